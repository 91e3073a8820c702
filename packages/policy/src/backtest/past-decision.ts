import type { ArgumentOrigins, PolicyEffect } from '@actlog/protocol';
import type { PolicyWeight } from '../check/precedence.ts';
import type { CallEnd } from '../history/call-history.ts';

/** A policy that matched an action when it was checked. */
export interface PastMatch extends Pick<PolicyWeight, 'effect' | 'mode'> {
  /** Id of the policy, or `agent_revoked`. */
  readonly policyId: string;
}

/** A kept decision, as a backtest reads it. */
export interface PastDecision {
  readonly id: string;
  /** Time of the decision in ISO 8601. */
  readonly decidedAt: string;
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly actionId: string | null;
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly framework: string | null;
  readonly environment: string | null;
  /** Matched policies in order of precedence. */
  readonly matched: readonly PastMatch[];
  /** `true` for a check without effects, which no rate counts. */
  readonly dryRun: boolean;
  /** Decision that the agent got, after that of an approver; omitted if it is not known. */
  readonly decision?: PolicyEffect | undefined;
  /** End of the call by its event; null without an event, and omitted if it is not known. */
  readonly ended?: CallEnd | null | undefined;
  /** Arguments that the agent showed; null if it showed none, or if they were not kept. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** `true` if the agent showed arguments that were too large to keep. */
  readonly argumentsOmitted: boolean;
  /** Origins of the arguments by path; null for none. */
  readonly origins: ArgumentOrigins | null;
}

/** Returns what the policies decided then, before an approver did: the effect of the first enforced one. */
export function pastVerdict({ matched }: PastDecision): PolicyEffect {
  return matched.find(({ mode }) => mode === 'enforce')?.effect ?? 'allow';
}
