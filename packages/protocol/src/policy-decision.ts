import type { ArgumentOrigins } from './schemas/argument-origin.ts';
import type { PolicyEffect } from './schemas/policy.ts';

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
  readonly heldStatus: 'pending' | 'approved' | 'denied' | 'expired' | null;
  /** Time at which the held action ended; null while it waits, and for an action that was not held. */
  readonly endedAt: string | null;
  /** Id of the approver's grant that allowed the action; null for none. */
  readonly grantId: string | null;
  /** Person or system on whose behalf the agent acted, as the check stated; null for none. */
  readonly principal: string | null;
  /** Name of the agent's subagent that acted, as the check stated; null for none. */
  readonly subagent: string | null;
  /** Agents that the agent ran inside, nearest first; empty for none. */
  readonly parentAgentIds: readonly string[];
  /** `true` for a check without effects, such as those of a guard that only observes. */
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
