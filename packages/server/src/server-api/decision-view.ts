import type { PolicyDecision } from '@actlog/protocol';
import { isoTime } from '../lib/iso-time.ts';
import type { PolicyDecisionRow } from '../storage/policies/policy-decision-store.ts';

/** Returns a decision as the API returns it. */
export function decisionView(row: PolicyDecisionRow): PolicyDecision {
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
    grantId: row.grant_id,
    principal: row.principal,
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
