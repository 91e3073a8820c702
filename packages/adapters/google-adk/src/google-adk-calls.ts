import { AsyncLocalStorage } from 'node:async_hooks';
import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  ProcessCoverage,
  processWide,
  toolContent,
} from '@actlog/recorder/adapter';
import type { BasePlugin, BaseTool, Context, InvocationContext } from '@google/adk';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Plugins of `actlog.install()`. */
export const processCoverage: ProcessCoverage<BasePlugin> = new ProcessCoverage(
  '@actlog/google-adk/installed',
);

/** A covered run or a recorded call, whose code may run agents itself. */
interface Surroundings {
  /** Plugins that record the calls. */
  readonly plugins: readonly BasePlugin[];
  /** Session of the run. */
  readonly sessionId: string | undefined;
  /** Invocation that makes the call; undefined for a run. */
  readonly context?: InvocationContext | undefined;
  readonly outer: Surroundings | undefined;
}

const around = processWide('@actlog/google-adk/surroundings', () => new AsyncLocalStorage<Surroundings>());

/** Runs the tool of a recorded call, or a step of a covered run. */
export function within<Result>(surroundings: Omit<Surroundings, 'outer'>, run: () => Result): Result {
  return around().run({ ...surroundings, outer: around().getStore() }, run);
}

/** Yields the runs and calls around this code, starting with the innermost. */
export function* surroundingRuns(): Generator<Surroundings> {
  for (let one = around().getStore(); one; one = one.outer) yield one;
}

/** Returns the session of the outermost run around this code. */
function sessionAround(): string | undefined {
  return [...surroundingRuns()].at(-1)?.sessionId;
}

/** Returns the invocations whose recorded calls run this code, starting with the innermost. */
export function invocationsAround(): InvocationContext[] {
  return [...surroundingRuns()].flatMap(({ context }) => context ?? []);
}

/** Creates the `AdapterCalls` of this adapter. */
export function googleAdkCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'google-adk',
      sdk: `@actlog/google-adk/${version}`,
      form: 'plugins: [actlog({ guard })]',
      statusOf: toolOutcomeStatus,
      thrownByTool,
      resultOf: toolContent,
    },
    options,
  );
}

/** Returns the properties of a call that ADK provides. A run that a tool starts belongs to the session of its call. */
export function surroundings({
  invocationContext: { session, agent },
  functionCallId,
  abortSignal,
}: Context): Pick<HookedCall, 'sessionId' | 'agentId' | 'parentAgentIds' | 'callId' | 'signal'> {
  const sessionId = sessionAround() ?? session.id;
  return {
    sessionId,
    agentId: agent?.name,
    parentAgentIds: agentsAbove(agent),
    callId: functionCallId,
    signal: abortSignal,
  };
}

/** Agent in a tree of agents. */
interface TreeAgent {
  readonly name: string;
  readonly parentAgent?: TreeAgent | undefined;
}

/** Returns the names of the agents that an agent is a subagent of, nearest first. */
function agentsAbove(agent: TreeAgent | undefined): string[] {
  const names: string[] = [];
  for (let above = agent?.parentAgent; above && !names.includes(above.name); above = above.parentAgent) {
    names.push(above.name);
  }
  return names;
}

/** Unwraps the error thrown by a tool's function from ADK's error. */
function thrownByTool(error: unknown): unknown {
  return typeof error === 'object' && error !== null && thrownErrors().has(error)
    ? thrownErrors().get(error)
    : error;
}

/**
 * Returns the status of a call from its outcome in ADK: `null` if the tool waits for a person and will run again,
 * `undefined` to use the recorder's table.
 */
function toolOutcomeStatus(outcome: ToolOutcome, call: HookedCall): number | null | undefined {
  const run = runsOfCalls().get(call);
  if (!run) return undefined;
  // A node returns a value in the end; undefined means that it requests input and will run again.
  if (outcome.ok && (awaitsInput(run) || (run.isNode && outcome.result === undefined))) return null;
  if (!run.isFunction || run.hasReachedFunction) return undefined;
  // If its function was not called, the tool failed on its arguments, or a person declined the confirmation.
  if (!outcome.ok) return call.signal?.aborted ? undefined : responseStatuses.invalidArguments;
  return run.context.toolConfirmation?.confirmed === false ? responseStatuses.denied : undefined;
}

/** Facts collected during a run of a tool. */
export interface ToolRun {
  readonly context: Context;
  /** `true` if the tool is a user function behind ADK's checks. */
  readonly isFunction: boolean;
  /** `true` if the tool is a node of a workflow. */
  readonly isNode: boolean;
  /** `true` if that function was called. */
  hasReachedFunction: boolean;
  /** Error thrown by the function; ADK throws a different one with the same text. */
  thrown?: unknown;
}

/** Maps a call to its run, from which its status is derived. */
export const runsOfCalls: () => WeakMap<HookedCall, ToolRun> = processWide(
  '@actlog/google-adk/runs-of-calls',
  () => new WeakMap(),
);

/** Errors of tools, by the errors that ADK created from them. */
export const thrownErrors: () => WeakMap<object, unknown> = processWide(
  '@actlog/google-adk/thrown-errors',
  () => new WeakMap(),
);

/** Returns `true` for a node used as a tool, by the symbol that ADK checks in a function that it does not export. */
export function isNodeTool(tool: BaseTool): boolean {
  return Symbol.for('google.adk.workflow.nodeTool') in tool;
}

/** Returns `true` if the tool requested a confirmation or credentials and will run again with them. */
export function awaitsInput({ context }: Pick<ToolRun, 'context'>): boolean {
  const { actions, functionCallId = '' } = context;
  return [actions.requestedToolConfirmations, actions.requestedAuthConfigs].some(
    (requests) => requests !== undefined && functionCallId in requests,
  );
}
