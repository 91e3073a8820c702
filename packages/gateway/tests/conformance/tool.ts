import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  EmptyResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';

/** Access to the client during a tool call. */
export type ToolContext = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A tool of the conformance server. */
export interface ConformanceTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown };
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<CallToolResult>;
}

/** JSON Schema of a tool without arguments. */
export const noArguments = { type: 'object', properties: {} } as const;

/** Creates a result with one text. */
export function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

/**
 * Sends a notification, and waits until the client responds to a ping: the SDK's client drops a notification that it reads
 * together with the result of the call.
 */
export async function notify(context: ToolContext, notification: ServerNotification): Promise<void> {
  await context.sendNotification(notification);
  await context.sendRequest({ method: 'ping' }, EmptyResultSchema);
}
