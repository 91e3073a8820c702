import type { GrantRevocationPayload } from '@actlog/policy';
import type { RequestActor } from '../audit/actor.ts';
import { notFound } from '../lib/api-error.ts';
import type { Services } from '../services.ts';
import { type ApprovalGrantRow, findGrant, revokeGrant } from '../storage/stores/approval-grant-store.ts';
import type { Write } from '../storage/transaction.ts';
import { recordDecision } from './decision-event.ts';

/** A grant to revoke. */
export interface GrantRevocation {
  readonly tenantId: number;
  readonly id: string;
  readonly revokedBy: RequestActor;
}

/**
 * Revokes a grant, and records that in its session. Actions that it allowed before stay allowed.
 *
 * @returns the revoked grant, and `true` if it was not revoked before
 * @throws ApiError `NOT_FOUND`.
 */
export async function revokeGrantOf(
  services: Services,
  write: Write,
  { tenantId, id, revokedBy }: GrantRevocation,
): Promise<{ readonly row: ApprovalGrantRow; readonly isNew: boolean }> {
  const nowMs = Date.now();
  const isNew = await revokeGrant(
    write.db,
    { tenant_id: tenantId, id },
    { revoked_by: revokedBy.id, revoked_principal: revokedBy.principal },
    nowMs,
  );
  const row = await findGrant(write.db, tenantId, id);
  if (!row) throw notFound('grant');
  if (isNew) {
    const session = { agentId: row.agent_id, sessionId: row.session_id };
    const payload: GrantRevocationPayload = {
      toolName: row.tool_name,
      decision: 'grant_revoked',
      grantId: id,
      decidedBy: revokedBy.id,
      ...(revokedBy.principal !== null && { principal: revokedBy.principal }),
    };
    await recordDecision(services, write, tenantId, session, payload, nowMs);
  }
  return { row, isNew };
}
