import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, type HookedCall, toolContent } from '@actlog/recorder/adapter';
import type { Context } from '@google/adk';
import { sessionAround } from './coverage.ts';
import { awaitsInput, runsOfCalls, thrownErrors } from './tool-run.ts';
import { version } from './version.ts';

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
 * Returns the status of ADK's outcome of a call: `null` for a tool that waits for a person and will run again, or
 * `undefined` for the recorder's own table.
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
