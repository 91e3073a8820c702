import { AsyncLocalStorage } from 'node:async_hooks';
import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, processWide, toolContent } from '@actlog/recorder/adapter';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Ids of running workflows. */
const runs = processWide('@actlog/mastra/workflow-runs', () => new AsyncLocalStorage<string>());

/** Runs a step of a workflow. A workflow that is a step of another belongs to the run of that. */
export function inWorkflowRun<Result>(runId: string, step: () => Result): Result {
  return runs().run(runs().getStore() ?? runId, step);
}

/** Returns the id of the outermost running workflow, which lasts when the run is suspended and resumed. */
export function workflowRunId(): string | undefined {
  return runs().getStore();
}

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

/** Returns the status of a schema violation, which Mastra reports as the result of the call. */
function statusOfValidation(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { error, message, validationErrors } = result as Record<string, unknown>;
  if (error !== true || typeof message !== 'string' || validationErrors === undefined) return undefined;
  return message.startsWith('Tool input') ? responseStatuses.invalidArguments : responseStatuses.threw;
}

/** Returns `true` if a tool is an agent that its caller delegates to. */
export function isDelegation(toolName: string): boolean {
  return toolName.startsWith('agent-');
}

/**
 * Returns the arguments from the model: Mastra adds ids to the prompt of an agent, and to the input that resumes an
 * agent or a workflow.
 */
export function argumentsOf(toolName: string, input: unknown): unknown {
  const isObject = typeof input === 'object' && input !== null;
  if (!isObject || !/^(agent|workflow)-/.test(toolName)) return input;
  const { suspendedToolRunId: _, ...given } = input as Record<string, unknown>;
  if (!isDelegation(toolName) || !('prompt' in given)) return given;
  const { threadId: __, resourceId: ___, ...rest } = given;
  return rest;
}

/** Returns the name under which the model sees a tool, which Mastra adapts to the rules of all providers. */
export function nameForModel(name: string): string {
  const taken = name.replace(/[^a-zA-Z0-9_-]/g, '_');
  return (/^[a-zA-Z_]/.test(taken) ? taken : `_${taken}`).slice(0, 63);
}
