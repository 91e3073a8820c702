import { type CallResult, markTruncated } from '../run-call.ts';
import type { OutputFormat } from './output-format.ts';

interface ConverseMessage {
  readonly role: string | undefined;
  readonly content: readonly object[] | undefined;
}

/** Output of the Converse API of Amazon Bedrock: a response or its message. */
export type ConverseOutput =
  | ConverseMessage
  | { readonly output: { readonly message?: ConverseMessage | undefined } | undefined };

/** Results of the calls of a message, for the Converse API. */
export interface ConverseToolMessage {
  role: 'user';
  content: {
    toolResult: { toolUseId: string; content: { text: string }[]; status: 'success' | 'error' };
  }[];
}

interface ToolUse {
  readonly toolUseId?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly type?: string;
}

interface AnyConverseOutput {
  readonly output?: { readonly message?: AnyConverseOutput };
  readonly stopReason?: unknown;
  readonly content?: unknown;
}

/** Reasons for the end of a message that was cut off. */
const truncationReasons: readonly unknown[] = ['max_tokens', 'model_context_window_exceeded'];

export const converseFormat: OutputFormat = {
  callsIn(output: AnyConverseOutput) {
    const { content } = output.output?.message ?? output;
    if (!Array.isArray(content)) return undefined;
    const uses = content.flatMap((block: { readonly toolUse?: ToolUse } | null) => block?.toolUse ?? []);
    const own = uses.filter(({ type }) => type !== 'server_tool_use'); // Bedrock runs the others
    const calls = own.map(({ toolUseId: id, name, input }) => ({ id, name: String(name), arguments: input }));
    if (calls.length === 0) return undefined;
    return markTruncated(calls, truncationReasons.includes(output.stopReason));
  },
  messagesOf: (results): ConverseToolMessage[] => [{ role: 'user', content: results.map(toolResult) }],
};

function toolResult({ id = '', content, isError }: CallResult): ConverseToolMessage['content'][number] {
  const status = isError ? 'error' : 'success';
  return { toolResult: { toolUseId: id, content: [{ text: content }], status } };
}
