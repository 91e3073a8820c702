import { ActionDeniedError, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  mcpErrorStatus,
  processWide,
  toolContent,
} from '@actlog/recorder/adapter';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function anthropicCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'anthropic',
      sdk: `@actlog/anthropic/${version}`,
      form: 'actlog(tools, { guard })',
      statusOf,
      thrownByTool,
      resultOf: toolContent,
    },
    options,
  );
}

function statusOf(outcome: ToolOutcome, { toolName }: HookedCall): number | undefined {
  if (outcome.ok) return undefined;
  if (isInvalidInput(outcome.error)) return responseStatuses.invalidArguments;
  // The SDK's MCP helpers throw an error result of a server as this error, whose message is the result's text.
  const { name, message } = (outcome.error ?? {}) as { name?: unknown; message?: unknown };
  return name === 'ToolError' ? mcpErrorStatus(String(message), undefined, toolName) : undefined;
}

/** Unwraps the denial of an inner hook from the error that reports it to the model. */
function thrownByTool(error: unknown): unknown {
  const cause = (error as { cause?: unknown } | null | undefined)?.cause;
  return ActionDeniedError.isInstance(cause) ? cause : error;
}

/** Options of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {}

const invalid = processWide('@actlog/anthropic/invalid-input', () => new WeakSet<object>());

/** Notes an error thrown by a tool's `parse`, from any library. */
export function noteInvalidInput(error: unknown): void {
  if (typeof error === 'object' && error !== null) invalid().add(error);
}

/** Returns `true` if an error was thrown by a tool's `parse`. */
export function isInvalidInput(error: unknown): boolean {
  return typeof error === 'object' && error !== null && invalid().has(error);
}
