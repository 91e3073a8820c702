import type { ArgumentOrigins } from './schemas/argument-origin.ts';
import type { CallerIdentity } from './schemas/check.ts';
import type { Decide, PendingAction } from './schemas/pending-action.ts';
import type { PolicyEffect } from './schemas/policy.ts';
import type { ErrorDetail } from './schemas/resource.ts';

/** A policy that matched a checked action. */
export interface MatchedPolicy {
  /** Id of the policy, or `agent_revoked`. */
  readonly policyId: string;
  /** Name of the policy at the time of the decision. */
  readonly policyName: string;
  /** Version of the policy at the time of the decision; null for a built-in policy. */
  readonly version: number | null;
  readonly effect: PolicyEffect;
  /** Policies of the mode `log_only` do not affect the decision. */
  readonly mode: 'enforce' | 'log_only';
  /** Order within one effect, highest first. */
  readonly priority: number;
}

/** Decision of the service about a checked action. A held action has one, which changes with its end. */
export interface PolicyDecision {
  readonly id: string;
  /** Time of the first check of the action, ISO 8601 in UTC, with milliseconds. */
  readonly decidedAt: string;
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly actionId: string | null;
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly framework: string | null;
  readonly environment: string | null;
  /** Of a held action: `require_approval` while it waits, then its outcome. */
  readonly decision: PolicyEffect;
  /** Policy that decided, or key of the approver; null if no policy decided. */
  readonly decidedBy: string | null;
  /** Matched policies in order of precedence. */
  readonly matched: readonly MatchedPolicy[];
  /** Id of the held action; null if the action was not held. */
  readonly pendingActionId: string | null;
  /** Status of the held action; null for an action that was not held, and for a dry run. */
  readonly heldStatus: 'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn' | null;
  /** Time at which the held action ended; null while it waits, and for an action that was not held. */
  readonly endedAt: string | null;
  /** Id of the approver's grant that allowed the action; null for none. */
  readonly grantId: string | null;
  /** Hash of the arguments that the agent ran, if the approver changed them; null otherwise. */
  readonly executedHash: string | null;
  /** Person or system on whose behalf the agent acted, as the check stated; null for none. */
  readonly principal: string | null;
  /** Name of the agent's subagent that acted, as the check stated; null for none. */
  readonly subagent: string | null;
  /** Agents that the agent ran inside, nearest first; empty for none. */
  readonly parentAgentIds: readonly string[];
  /** Verified identity of the caller of the check; null if it sent no token. */
  readonly identity: CallerIdentity | null;
  /** W3C `traceparent` of the call that was checked; null if the check named none. */
  readonly traceparent: string | null;
  /** `true` for a check without effects, for example from a guard that only observes. */
  readonly dryRun: boolean;
  /** Time that the decision took on the server, without the wait for an approver, in milliseconds. */
  readonly durationMs: number;
  /** Arguments that the agent showed; null if it showed none or they were too large to keep. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** Arguments as JSON text; only if they have whole numbers beyond 2^53, which most parsers round. */
  readonly argumentsJson?: string;
  /** `true` if the agent showed arguments of more than 4,096 characters, which are not kept. */
  readonly argumentsOmitted: boolean;
  /** Origins of the arguments by path; null for none. */
  readonly origins: ArgumentOrigins | null;
}

/** Response of `GET /server/v1/decisions` of the actlog server. */
export interface PolicyDecisionPage {
  readonly items: readonly PolicyDecision[];
  readonly nextCursor: string | null;
}

/** Decisions of one agent's calls of one tool that would be different. */
export interface BacktestChange {
  readonly agentId: string;
  readonly toolName: string;
  /** Decision of the policies then. */
  readonly from: PolicyEffect;
  /** Decision of the draft. */
  readonly to: PolicyEffect;
  /** Id of the policy that decides; null if none does. The server calls the policies of a draft `draft_0`, `draft_1`, … */
  readonly policyId: string | null;
  readonly count: number;
  /** Ids of the first decisions, at most three. */
  readonly examples: readonly string[];
}

/** Result of a backtest: policies tried on decisions of the past. */
export interface BacktestResult {
  /** Number of decisions that were compared. */
  readonly decisions: number;
  /** Number of decisions that would be the same. */
  readonly unchanged: number;
  /** Number of decisions that would be different. */
  readonly changed: number;
  /** Number of decisions for which a condition of the draft reads what was not shown or not kept. */
  readonly cannotTell: number;
  /** Changes by agent, tool and decision, most frequent first. */
  readonly changes: readonly BacktestChange[];
}

/** Maximum number of decisions in one request of `POST /server/v1/pending-actions/decide`. */
export const maxDecisionsAtOnce = 100;

/** A decision about one held action of several. */
export type ActionDecision = Decide & {
  /** Id of the held action. */
  readonly id: string;
};

/** Outcome of a decision: either the action, or the error that a request about it alone would have got. */
export interface ActionDecisionResult {
  /** Id of the held action. */
  readonly id: string;
  /**
   * The action after the decision, without its shown arguments and their origins; `pending` while it needs further
   * approvers. Null if the decision was refused.
   */
  readonly action: PendingAction | null;
  /** Null if the decision was made. */
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly ErrorDetail[];
  } | null;
}

/** Response of `POST /server/v1/pending-actions/decide` of the actlog server. */
export interface ActionDecisionResults {
  /** One result for each decision, in the same order. */
  readonly results: readonly ActionDecisionResult[];
}

/** Grant of an approver: later actions of one agent in one session run without another approval. */
export interface ApprovalGrant {
  readonly id: string;
  /**
   * `active` while it allows actions. `policy_changed` if a policy that held the approved action was changed or archived
   * since.
   */
  readonly status: 'active' | 'used_up' | 'policy_changed' | 'expired' | 'revoked';
  readonly agentId: string;
  readonly sessionId: string;
  /** Person or system on whose behalf the agent acted; the grant is only for the same. Null for none. */
  readonly principal: string | null;
  /** `action` for the same action as the approved one, `tool` for any call of the same tool. */
  readonly for: 'action' | 'tool';
  readonly toolName: string;
  /** Policies that held the approved action, at the versions that held it. The grant covers no other policy. */
  readonly policies: readonly { readonly id: string; readonly version: number | null }[];
  /** Id of the approved action. */
  readonly pendingActionId: string;
  /** Id of the last approver: an API key (`key_…`), or a person who is signed in (`usr_…`). */
  readonly grantedBy: string;
  /** The last approver, where the deployment knows the person; null otherwise. */
  readonly grantedByPrincipal: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly createdAt: string;
  readonly expiresAt: string;
  /** Number of actions that it lets run; null if not limited. */
  readonly maxUses: number | null;
  /** Number of actions that it has let run. */
  readonly uses: number;
  /** Null while it is not revoked. */
  readonly revokedAt: string | null;
  /** Id of the key or the person that revoked it; null while it is not revoked. */
  readonly revokedBy: string | null;
  /** The person who revoked it, where the deployment knows who it was; null otherwise. */
  readonly revokedByPrincipal: string | null;
}

/** Response of `GET /server/v1/grants` of the actlog server. */
export interface ApprovalGrantPage {
  readonly items: readonly ApprovalGrant[];
  readonly nextCursor: string | null;
}
