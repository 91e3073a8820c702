import { type HeldAction, lateDecisionRefusal } from '@actlog/policy';
import {
  type CallerIdentity,
  type GivenApproval,
  parseJsonForOutput,
  type SentOf,
  stringifyExactJson,
} from '@actlog/protocol';
import { type ApiError, refusalError } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { type PendingActionRow, statusAt } from '../storage/stores/pending-action-store.ts';

/** Returns the state of a pending action at a given time, without the action itself. */
export function heldAction(row: PendingActionRow, nowMs: number): HeldAction {
  const decided = row.decided_by !== null && row.decided_ms !== null;
  return {
    id: row.id,
    status: statusAt(row, nowMs),
    policyId: row.policy_id,
    policyName: row.policy_name,
    expiresAt: isoTime(row.expires_ms),
    onTimeout: row.on_timeout,
    singleUse: row.single_use === 1,
    usedAt: isoTimeOrNull(row.used_ms),
    requestedBy: row.requested_by,
    principal: row.principal,
    subagent: row.subagent,
    parentAgentIds: parentsOf(row.parent_agents),
    identity: row.identity === null ? null : (JSON.parse(row.identity) as CallerIdentity),
    traceparent: row.traceparent,
    approvals: {
      required: row.required_approvers,
      approverKeys: row.approver_keys === null ? null : (JSON.parse(row.approver_keys) as string[]),
      approverGroups: row.approver_groups === null ? null : (JSON.parse(row.approver_groups) as string[]),
      notRequester: row.not_requester === 1,
      verifiedPrincipal: row.verified_principal === 1,
      given: row.approvals === null ? [] : (JSON.parse(row.approvals) as GivenApproval[]),
    },
    grantId: row.grant_id,
    editable: row.editable === null ? [] : (JSON.parse(row.editable) as HeldAction['editable']),
    changedArguments:
      row.changes === null ? null : (parseJsonForOutput(row.changes) as Record<string, unknown>),
    executedHash: row.executed_hash,
    decision: decided
      ? {
          decision: row.status === 'approved' ? 'approve' : 'deny',
          comment: row.comment,
          decidedBy: row.decided_by as string,
          principal: row.decided_principal,
          decidedAt: isoTime(row.decided_ms as number),
        }
      : null,
  };
}

/** Returns stored agents above an agent. */
export function parentsOf(json: string | null): string[] {
  return json === null ? [] : (JSON.parse(json) as string[]);
}

/** Returns a pending action as the wire shows it at a given time. */
export function pendingActionView(
  row: PendingActionRow,
  nowMs: number,
): SentOf<'guardian.pendingActions.decide'> {
  const { id, status, policyId, policyName, ...state } = heldAction(row, nowMs);
  return {
    id,
    status,
    agentId: row.agent_id,
    sessionId: row.session_id,
    policyId,
    policyName,
    action: shownAction(row.action),
    reason: row.reason,
    createdAt: isoTime(row.created_ms),
    ...state,
  };
}

/** Returns the error of a decision about an action that has ended another way. */
export function tooLate(row: PendingActionRow, status: PendingActionRow['status']): ApiError {
  return refusalError(lateDecisionRefusal({ status, expiresAt: isoTime(row.expires_ms) }));
}

/** Returns a held action with all digits of its arguments. */
function shownAction(json: string): { toolName: string; argumentsHash: string } {
  const action = parseJsonForOutput(json) as { toolName: string; argumentsHash: string; arguments?: object };
  const { arguments: shown } = action;
  return { ...action, ...exactArguments(shown === undefined ? null : (stringifyExactJson(shown) as string)) };
}

/**
 * Returns the text of shown arguments for callers whose parser would round a number of them, which is that of most
 * languages; nothing if no parser rounds them.
 */
export function exactArguments(json: string | null): { readonly argumentsJson?: string } {
  const isRounded = json !== null && /\d{16}/.test(json) && JSON.stringify(JSON.parse(json)) !== json;
  return isRounded ? { argumentsJson: json } : {};
}
