import type { ArgumentOrigins } from '@actlog/protocol';
import { isoTime } from '../lib/iso-time.ts';
import type { PolicyDecisionRow } from '../storage/policies/policy-decision-store.ts';

/** A policy that matched a checked action. */
export interface MatchedPolicyView {
  /** Id of the policy, or `agent_revoked`. */
  readonly policyId: string;
  /** Version of the policy at the time of the decision; `null` for a built-in policy. */
  readonly version: number | null;
  readonly effect: 'allow' | 'deny' | 'require_approval';
  readonly mode: 'enforce' | 'log_only';
  /** Order within one effect, highest first. */
  readonly priority: number;
}

/** A decision about a checked action, as the API returns it. */
export interface DecisionView {
  readonly id: string;
  /** Time of the decision in ISO 8601, in UTC with milliseconds. */
  readonly decidedAt: string;
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly actionId: string | null;
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly framework: string | null;
  readonly environment: string | null;
  readonly decision: 'allow' | 'deny' | 'require_approval';
  /** Policy that decided, or key of the approver; `null` if no policy decided. */
  readonly decidedBy: string | null;
  /** Matched policies in order of precedence. */
  readonly matched: readonly MatchedPolicyView[];
  readonly pendingActionId: string | null;
  /** `true` for a check without effects, such as those of a guard that only observes. */
  readonly dryRun: boolean;
  /** Time that the decision took, without the wait for an approver, in milliseconds. */
  readonly durationMs: number;
  /** Arguments that the agent showed; `null` if it showed none or they were too large to keep. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** `true` if the agent showed arguments of more than 4,096 characters, which are not kept. */
  readonly argumentsOmitted: boolean;
  /** Origins of the arguments; `null` for none. */
  readonly origins: ArgumentOrigins | null;
}

/** Returns a decision as the API returns it. */
export function decisionView(row: PolicyDecisionRow): DecisionView {
  return {
    id: row.id,
    decidedAt: isoTime(row.decided_ms),
    agentId: row.agent_id,
    sessionId: row.session_id,
    actionId: row.action_id,
    toolName: row.tool_name,
    argumentsHash: row.arguments_hash,
    framework: row.framework,
    environment: row.environment,
    decision: row.decision,
    decidedBy: row.decided_by,
    matched: parsed(row.matched) ?? [],
    pendingActionId: row.pending_action_id,
    dryRun: row.dry_run === 1,
    durationMs: row.duration_us / 1000,
    arguments: row.arguments === '' ? null : parsed(row.arguments),
    argumentsOmitted: row.arguments === '',
    origins: parsed(row.origins),
  };
}

function parsed<Value>(json: string | null): Value | null {
  return json === null ? null : (JSON.parse(json) as Value);
}
