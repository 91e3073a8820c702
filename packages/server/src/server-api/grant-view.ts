import type { ApprovalGrant } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { PolicySet } from '../policy/policy-set.ts';
import type { ApprovalGrantRow } from '../storage/stores/approval-grant-store.ts';

/** Returns a grant as the API returns it, given the active policies. */
export function grantView(row: ApprovalGrantRow, set: PolicySet, nowMs: number): ApprovalGrant {
  const policies = JSON.parse(row.policies) as ApprovalGrant['policies'];
  return {
    id: row.id,
    status: statusOf(row, policies, set, nowMs),
    agentId: row.agent_id,
    sessionId: row.session_id,
    principal: row.principal,
    for: row.granted_for,
    toolName: row.tool_name,
    policies,
    pendingActionId: row.pending_action_id,
    grantedBy: row.granted_by,
    grantedByPrincipal: row.granted_principal,
    createdAt: isoTime(row.created_ms),
    expiresAt: isoTime(row.expires_ms),
    maxUses: row.max_uses,
    uses: row.uses,
    revokedAt: isoTimeOrNull(row.revoked_ms),
    revokedBy: row.revoked_by,
    revokedByPrincipal: row.revoked_principal,
  };
}

function statusOf(
  row: ApprovalGrantRow,
  granted: ApprovalGrant['policies'],
  { policies }: PolicySet,
  nowMs: number,
): ApprovalGrant['status'] {
  if (row.revoked_ms !== null) return 'revoked';
  if (row.expires_ms <= nowMs) return 'expired';
  if (row.max_uses !== null && row.uses >= row.max_uses) return 'used_up';
  const isSame = granted.every(({ id, version }) =>
    policies.some((policy) => policy.id === id && policy.version === version),
  );
  return isSame ? 'active' : 'policy_changed';
}
