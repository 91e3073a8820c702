import type { MatchedPolicy, PolicyDecision, PolicyEffect } from '@actlog/protocol';
import type { CallEnd } from '../history/call-history.ts';

/** A policy that matched an action when it was checked. */
export type PastMatch = Pick<MatchedPolicy, 'policyId' | 'effect' | 'mode'>;

/** A kept decision, as a backtest reads it. */
export interface PastDecision
  extends Omit<
    PolicyDecision,
    | 'decision'
    | 'decidedBy'
    | 'matched'
    | 'pendingActionId'
    | 'heldStatus'
    | 'endedAt'
    | 'subagent'
    | 'parentAgentIds'
    | 'grantId'
    | 'durationMs'
  > {
  /** Matched policies in order of precedence. */
  readonly matched: readonly PastMatch[];
  /** Decision that the agent got, after that of an approver; omitted if it is not known. */
  readonly decision?: PolicyEffect | undefined;
  /** Name of the subagent that acted; null or omitted for none. */
  readonly subagent?: string | null | undefined;
  /** Agents around the agent, nearest first; omitted for none. */
  readonly parentAgentIds?: readonly string[] | undefined;
  /** Time at which a held action ended; null or omitted for one that waits, and for one that was not held. */
  readonly endedAt?: string | null | undefined;
  /** End of the call by its event; null without an event, and omitted if it is not known. */
  readonly ended?: CallEnd | null | undefined;
}

/** Returns what the policies decided then, before an approver did: the effect of the first enforced one. */
export function pastVerdict({ matched }: PastDecision): PolicyEffect {
  return matched.find(({ mode }) => mode === 'enforce')?.effect ?? 'allow';
}
