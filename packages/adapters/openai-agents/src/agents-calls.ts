import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  ProcessCoverage,
  processWide,
  shellStatus,
  toolContent,
} from '@actlog/recorder/adapter';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Recorders of tool calls by agent and runner. */
interface Coverage {
  readonly agents: WeakMap<object, AdapterCalls>;
  /**
   * Agents that a covered agent hands over to or uses as tools. They stay covered in later runs, as in
   * `run(result.lastAgent, …)`, unless something nearer covers them.
   */
  readonly reached: WeakMap<object, AdapterCalls>;
  readonly runners: WeakMap<object, AdapterCalls>;
}

/** Coverage of this process, whose SDK classes are hooked once. */
export const coverage: () => Coverage = processWide<Coverage>('@actlog/openai-agents/coverage', () => ({
  agents: new WeakMap(),
  reached: new WeakMap(),
  runners: new WeakMap(),
}));

/** Recorders of everything in this process that is not in the maps, from `actlog.install()`. */
export const processCoverage: ProcessCoverage = new ProcessCoverage('@actlog/openai-agents/process');

/** Outcome of a call that will be repeated, or that was never run. */
export const unfinished = {
  ok: false,
  error: Symbol.for('@actlog/openai-agents/unfinished'),
} as const satisfies ToolOutcome;

const actions = processWide('@actlog/openai-agents/actions', () => new WeakSet<HookedCall>());

/** Marks a call of one of the SDK's tools for commands and patches, whose results contain the outcome. */
export function asAction(call: HookedCall): HookedCall {
  actions().add(call);
  return call;
}

/** Creates the `AdapterCalls` of this adapter. */
export function agentsCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'openai-agents',
      sdk: `@actlog/openai-agents/${version}`,
      form: 'actlog(agent, { guard })',
      statusOf,
      resultOf,
    },
    options,
  );
}

/** Creates an outcome of which only the status is known. */
export function failure(status: number, message: string): ToolOutcome {
  return { ok: false, error: Object.assign(new Error(message), { status }) };
}

function statusOf(outcome: ToolOutcome, call: HookedCall): number | null | undefined {
  if (!outcome.ok) return outcome.error === unfinished.error ? null : undefined;
  return actions().has(call) ? statusOfAction(outcome.result) : undefined;
}

/** Derives the status from a `ShellResult` or an `ApplyPatchResult`. */
function statusOfAction(result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const { status, output } = result as { status?: unknown; output?: unknown };
  return status === 'failed' ? responseStatuses.threw : shellStatus(output);
}

/** Returns what the model sees of a result: a tool may return one block of content instead of a list. */
function resultOf(result: unknown): unknown {
  const isBlock = typeof (result as { type?: unknown } | null | undefined)?.type === 'string';
  return isBlock ? toolContent([result]) : toolContent(result);
}
