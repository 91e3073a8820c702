import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, toolContent } from '@actlog/recorder/adapter';
import { version } from './version.ts';

/** Outcome of a call whose tool was suspended and will be called again when resumed. */
export const suspended = { ok: false, error: Symbol('suspended') } as const satisfies ToolOutcome;

/** Creates the `AdapterCalls` of this adapter. */
export function mastraCalls(options: AdapterOptions): AdapterCalls {
  const sdk = `@actlog/mastra/${version}`;
  return new AdapterCalls(
    {
      framework: 'mastra',
      sdk,
      form: 'hooks: actlog({ guard }), actlog.around(hooks, { guard }) or actlog.tools(tools, { guard })',
      statusOf,
      thrownByTool,
      resultOf: toolContent,
    },
    options,
  );
}

/** Unwraps the error thrown by a tool from Mastra's error. */
function thrownByTool(error: unknown): unknown {
  const { id, cause } = (error ?? {}) as { id?: unknown; cause?: unknown };
  return id === 'TOOL_EXECUTION_FAILED' && cause !== undefined ? cause : error;
}

function statusOf(outcome: ToolOutcome): number | null | undefined {
  if (outcome.ok) return statusOfValidation(outcome.result);
  return outcome.error === suspended.error ? null : undefined;
}

/** Mastra reports schema violations as the result of the call. */
function statusOfValidation(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { error, message, validationErrors } = result as Record<string, unknown>;
  if (error !== true || typeof message !== 'string' || validationErrors === undefined) return undefined;
  return message.startsWith('Tool input') ? responseStatuses.invalidArguments : responseStatuses.threw;
}
