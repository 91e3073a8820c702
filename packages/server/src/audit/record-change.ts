import type { AuditAction, AuditActor, AuditFieldChange } from '@actlog/protocol';
import { newIdentifierAt } from '../lib/identifier.ts';
import { requireCountedRoom } from '../quota/require-room.ts';
import { insertAuditEntry } from '../storage/audit/audit-store.ts';
import type { StoredKey } from '../storage/stores/key-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { RequestActor } from './actor.ts';
import { fieldChanges } from './field-changes.ts';

/** A change for the audit log. */
export interface Change {
  readonly action: AuditAction;
  readonly target: { readonly id: string; readonly name: string | null };
  readonly changes: readonly AuditFieldChange[];
}

/**
 * Changes that are recorded beyond the quota. They take a permission away or decide an action, so a full log must not
 * prevent them. Other quotas bound their number: none can be repeated without a change that needs room. People sign in
 * to see what fills the log.
 */
const alwaysRecorded: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'key.revoked',
  'agent.revoked',
  'webhook.disabled',
  'held_action.partially_approved',
  'held_action.approved',
  'held_action.denied',
  'grant.revoked',
  'sign_in.created',
  'sign_in.ended',
]);

/**
 * Adds a change by the author of a request to the audit log, in the transaction of the change.
 *
 * @param quotas - quotas of the deployment
 * @throws QuotaError 429 when the log is full; not for a change that takes a permission away.
 */
export async function recordChange(
  quotas: DeploymentQuotas,
  db: Database,
  tenantId: number,
  actor: RequestActor,
  change: Change,
): Promise<void> {
  if (!alwaysRecorded.has(change.action)) {
    await requireCountedRoom(db, tenantId, { auditEntries: 1 }, Date.now(), quotas);
  }
  await recordUnlimited(db, tenantId, actor, change);
}

/**
 * Adds a change by an operator or the server itself to the audit log, in the transaction of the change. It is recorded
 * also when the log is full.
 */
export async function recordUnlimited(
  db: Database,
  tenantId: number,
  actor: AuditActor,
  { action, target, changes }: Change,
): Promise<void> {
  const nowMs = Date.now();
  await insertAuditEntry(db, {
    tenant_id: tenantId,
    id: newIdentifierAt('aud', nowMs),
    at_ms: nowMs,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    principal: actor.principal,
    action,
    target_id: target.id,
    target_name: target.name,
    changes: JSON.stringify(changes),
  });
}

/** Returns the entry of the audit log for a key that was created or revoked. It never has the key or its digest. */
export function keyChange(action: 'key.created' | 'key.revoked', key: StoredKey): Change {
  const target = { id: `key_${key.id}`, name: key.name };
  if (action === 'key.revoked') {
    return { action, target, changes: [{ field: 'status', before: 'active', after: 'revoked' }] };
  }
  return {
    action,
    target,
    changes: fieldChanges(undefined, { ...key, expiresAt: expiryOf(key) }, [
      'kind',
      'scopes',
      'agents',
      'shared',
      'expiresAt',
    ]),
  };
}

/** Returns the entry of the audit log for a key that another one replaces. */
export function rotationChange(id: string, successor: StoredKey): Change {
  return {
    action: 'key.rotated',
    target: { id: `key_${id}`, name: successor.name },
    changes: fieldChanges(undefined, { replacedBy: `key_${successor.id}`, expiresAt: expiryOf(successor) }, [
      'replacedBy',
      'expiresAt',
    ]),
  };
}

function expiryOf({ expiresMs }: StoredKey): string | null {
  return expiresMs === null ? null : new Date(expiresMs).toISOString();
}
