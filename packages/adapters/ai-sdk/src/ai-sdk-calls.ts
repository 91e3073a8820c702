import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, toolContent } from '@actlog/recorder/adapter';
import type { ActlogOptions } from './options.ts';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function aiSdkCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'ai-sdk',
      sdk: `@actlog/ai-sdk/${version}`,
      form: 'actlog(tools, { guard })',
      statusOf,
      resultOf: toolContent,
    },
    options,
  );
}

/** Statuses by the names of the AI SDK's errors, which are the same in all its copies and majors. */
const errorStatuses: Readonly<Record<string, number>> = {
  AI_InvalidToolInputError: responseStatuses.invalidArguments,
  AI_NoSuchToolError: responseStatuses.unknownTool,
};

function statusOf(outcome: ToolOutcome): number | undefined {
  if (outcome.ok || typeof outcome.error !== 'object' || outcome.error === null) return undefined;
  const { name, originalError } = outcome.error as { name?: unknown; originalError?: unknown };
  // A call that could not be repaired has the status of the original error.
  if (name === 'AI_ToolCallRepairError') return statusOf({ ok: false, error: originalError });
  return typeof name === 'string' ? errorStatuses[name] : undefined;
}
