import {
  type ApprovalGrant,
  type Approver,
  type GrantTerms,
  maxSessionGrants,
  maxTenantGrants,
} from '@actlog/policy';
import { ApiError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import {
  type ApprovalGrantRow,
  countValidGrants,
  insertGrant,
} from '../storage/stores/approval-grant-store.ts';
import type { PendingActionRow } from '../storage/stores/pending-action-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Name of the lock for transactions that may create a grant, so that their number is exact. */
export const grantLock = 'approval grants';

/** Returns a stored grant as the rules read it. */
export function approvalGrant(row: ApprovalGrantRow): ApprovalGrant {
  return {
    id: row.id,
    agentId: row.agent_id,
    sessionId: row.session_id,
    principal: row.principal,
    for: row.granted_for,
    toolName: row.tool_name,
    subject: row.action_digest,
    policies: JSON.parse(row.policies) as ApprovalGrant['policies'],
    grantedBy: row.granted_by,
    expiresMs: row.expires_ms,
    remainingUses: row.max_uses === null ? null : row.max_uses - row.uses,
    isRevoked: row.revoked_ms !== null,
  };
}

/**
 * Creates the grant of an approval. Call it with {@link grantLock} locked.
 *
 * @returns the id of the grant
 * @throws ApiError `RATE_LIMITED` when the session or the tenant has too many valid grants.
 */
export async function createGrant(
  db: Database,
  held: PendingActionRow & { readonly session_id: string },
  terms: GrantTerms,
  grantedBy: Approver,
  nowMs: number,
): Promise<string> {
  const { tenant_id: tenantId, session_id: sessionId } = held;
  await requireRoom(db, tenantId, maxSessionGrants, nowMs, sessionId);
  await requireRoom(db, tenantId, maxTenantGrants, nowMs);
  const id = newIdentifier('grt');
  const { toolName } = JSON.parse(held.action) as { readonly toolName: string };
  await insertGrant(db, {
    tenant_id: tenantId,
    id,
    session_id: sessionId,
    agent_id: held.agent_id,
    principal: held.principal,
    granted_for: terms.for,
    tool_name: toolName,
    // That of changed arguments is known when the agent checks them. Until then, the grant allows nothing.
    action_digest: held.changes === null ? held.action_digest : `changed ${held.id}`,
    policies: held.policies ?? '[]',
    pending_action_id: held.id,
    granted_by: grantedBy.key,
    granted_principal: grantedBy.principal,
    created_ms: nowMs,
    expires_ms: nowMs + terms.durationMs,
    max_uses: terms.maxUses,
    uses: 0,
    revoked_ms: null,
    revoked_by: null,
    revoked_principal: null,
  });
  return id;
}

async function requireRoom(
  db: Database,
  tenantId: number,
  limit: number,
  nowMs: number,
  sessionId?: string,
): Promise<void> {
  if ((await countValidGrants(db, tenantId, nowMs, sessionId)) < limit) return;
  const owner = sessionId === undefined ? 'tenant' : 'session';
  const message = `The ${owner} has ${limit} valid grants, which is the limit. Revoke one, or approve only this action.`;
  throw new ApiError('RATE_LIMITED', message, {
    details: [{ path: 'grant', code: 'too_many_grants', message: `exceeds ${limit} grants of a ${owner}` }],
    retryAfterSeconds: 60,
  });
}
