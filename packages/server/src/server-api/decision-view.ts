import { type PolicyDecision, parseJsonForOutput } from '@actlog/protocol';
import { exactArguments, parentsOf } from '../guardian/pending-action-view.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { PolicyDecisionRow } from '../storage/policies/policy-decision-store.ts';

/**
 * Returns a decision as the API returns it.
 *
 * @param parse - reads the arguments: by default for output only, or `parseJsonWithBigInts` to compute with them
 */
export function decisionView(
  row: PolicyDecisionRow,
  parse: (json: string) => unknown = parseJsonForOutput,
): PolicyDecision {
  const shown = row.arguments === '' || row.arguments === null ? null : row.arguments;
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
    heldStatus: row.held_status,
    endedAt: isoTimeOrNull(row.ended_ms),
    grantId: row.grant_id,
    principal: row.principal,
    subagent: row.subagent,
    parentAgentIds: parentsOf(row.parent_agents),
    dryRun: row.dry_run === 1,
    durationMs: row.duration_us / 1000,
    arguments: shown === null ? null : (parse(shown) as Record<string, unknown>),
    ...exactArguments(shown),
    argumentsOmitted: row.arguments === '',
    origins: parsed(row.origins),
  };
}

function parsed<Value>(json: string | null): Value | null {
  return json === null ? null : (JSON.parse(json) as Value);
}
