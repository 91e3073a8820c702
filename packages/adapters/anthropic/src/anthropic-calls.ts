import { ActionDeniedError, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type HookedCall, mcpErrorStatus, toolContent } from '@actlog/recorder/adapter';
import { isInvalidInput } from './invalid-input.ts';
import type { ActlogOptions } from './options.ts';
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
