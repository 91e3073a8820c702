import { AgentTools } from '../history/agent-tools.ts';
import { CallHistory } from '../history/call-history.ts';
import { type CallOutcome, keptArguments } from '../history/session-call.ts';
import type { WatchedCalls } from '../history/watched-calls.ts';
import type { CheckedAction } from '../match/checked-action.ts';
import type { PolicyHistory } from '../match/condition.ts';

/** A checked call of the session before the tried action. */
export interface EarlierCall {
  readonly toolName: string;
  /** Agent of the call; that of the tried action by default. */
  readonly agentId?: string | undefined;
  /** Arguments that the agent showed; none by default. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Outcome of the call; `succeeded` by default. */
  readonly outcome?: CallOutcome | undefined;
  /** Time between the call and the tried action, in seconds; 0 by default. */
  readonly secondsAgo?: number | undefined;
}

/** Calls before a tried action, and those of them that policies read. */
export interface EarlierCalls {
  readonly watches: WatchedCalls;
  /** Calls in the order in which they were made. */
  readonly calls: readonly EarlierCall[];
  /** `true` if a tool reads text of unknown authors. */
  readonly readsUntrusted: (toolName: string) => boolean;
}

/** Time of the tried action, in Unix milliseconds. Any time will do. */
const nowMs = Date.UTC(2026, 0, 1);

/**
 * Returns the history of an action after these calls, all of them known. Without calls and without a session, there is
 * no history, as in a check without `sessionId`.
 */
export function trialHistory(
  action: CheckedAction,
  { watches, calls, readsUntrusted }: EarlierCalls,
): PolicyHistory {
  const session = new CallHistory(0);
  const agent = new AgentTools();
  for (const { toolName, agentId = action.agentId, outcome = 'succeeded', ...call } of inOrder(calls)) {
    const watched = watches.ofTool(toolName, () => readsUntrusted(toolName));
    if (!watched) continue;
    const isAllowed = outcome !== 'denied';
    const atMs = nowMs - (call.secondsAgo ?? 0) * 1000;
    if (watched.inSession) {
      const { argumentNames } = watched;
      const hasEnded = outcome === 'succeeded' || outcome === 'failed';
      session.add(
        {
          agentId,
          actionId: undefined,
          toolName,
          argumentsHash: '',
          atMs,
          outcome,
          endedMs: hasEnded ? atMs : 0,
          arguments: keptArguments(call.arguments, argumentNames),
        },
        argumentNames,
      );
    }
    if (isAllowed && watched.isUntrusted) session.addUntrusted(agentId, undefined);
    if (isAllowed && watched.ofAgent && agentId === action.agentId) agent.add(toolName);
  }
  const hasSession = action.sessionId !== undefined || calls.length > 0;
  return {
    session: hasSession ? session : undefined,
    agent,
    nowMs,
    actionId: undefined,
    policySinceMs: 0,
  };
}

function inOrder(calls: readonly EarlierCall[]): EarlierCall[] {
  return calls.toSorted((left, right) => (right.secondsAgo ?? 0) - (left.secondsAgo ?? 0));
}
