import type { Insertable, Selectable } from 'kysely';
import type { ApprovalGrantTable } from '../policies/policy-schema.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import type { Database } from '../transaction.ts';

/** A stored grant. */
export type ApprovalGrantRow = Selectable<ApprovalGrantTable>;

/** Adds a grant. */
export async function insertGrant(db: Database, row: Insertable<ApprovalGrantTable>): Promise<void> {
  await db.insertInto('approval_grants').values(row).execute();
}

/** Returns a grant, or `undefined` if there is none. */
export function findGrant(db: Database, tenantId: number, id: string): Promise<ApprovalGrantRow | undefined> {
  return ofTenant(db, tenantId).selectAll().where('id', '=', id).executeTakeFirst();
}

/** Returns the grants of a session that are valid at a time, oldest first. */
export function validGrantsOf(
  db: Database,
  tenantId: number,
  sessionId: string,
  nowMs: number,
): Promise<ApprovalGrantRow[]> {
  return ofTenant(db, tenantId)
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('expires_ms', '>', nowMs)
    .where('revoked_ms', 'is', null)
    .orderBy('id')
    .execute();
}

/** Returns the number of a tenant's grants that are valid at a time; of one session if it is given. */
export async function countValidGrants(
  db: Database,
  tenantId: number,
  nowMs: number,
  sessionId?: string,
): Promise<number> {
  let query = ofTenant(db, tenantId).where('expires_ms', '>', nowMs).where('revoked_ms', 'is', null);
  if (sessionId !== undefined) query = query.where('session_id', '=', sessionId);
  const { count } = await query
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Filters of a list of grants; a grant must pass all of them. */
export interface GrantFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** `true` for grants that are neither expired nor revoked, `false` for the others. */
  readonly isValid?: boolean | undefined;
}

/** Returns a tenant's grants, newest first, and one more than `limit` if there are more. */
export function listGrants(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly filters: GrantFilters;
    readonly nowMs: number;
    /** Id of the grant after which the list begins. */
    readonly afterId?: string | undefined;
    readonly limit: number;
  },
): Promise<Slice<ApprovalGrantRow>> {
  const { filters, nowMs } = options;
  let query = ofTenant(db, options.tenantId).selectAll();
  if (options.afterId !== undefined) query = query.where('id', '<', options.afterId);
  if (filters.agentId !== undefined) query = query.where('agent_id', '=', filters.agentId);
  if (filters.sessionId !== undefined) query = query.where('session_id', '=', filters.sessionId);
  if (filters.isValid === true) query = query.where('expires_ms', '>', nowMs).where('revoked_ms', 'is', null);
  if (filters.isValid === false) {
    query = query.where((eb) => eb.or([eb('expires_ms', '<=', nowMs), eb('revoked_ms', 'is not', null)]));
  }
  return querySliceWithin(options.limit, ['policies'], query.orderBy('id', 'desc'));
}

function ofTenant(db: Database, tenantId: number) {
  return db.selectFrom('approval_grants').where('tenant_id', '=', tenantId);
}

/**
 * Counts one action for a grant. Returns `false` if the grant has ended: of racing actions only as many succeed as the
 * grant lets run.
 */
export async function useGrant(db: Database, tenantId: number, id: string, nowMs: number): Promise<boolean> {
  const result = await db
    .updateTable('approval_grants')
    .set((eb) => ({ uses: eb('uses', '+', 1) }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('revoked_ms', 'is', null)
    .where('expires_ms', '>', nowMs)
    .where((eb) => eb.or([eb('max_uses', 'is', null), eb('uses', '<', eb.ref('max_uses'))]))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Binds the grant of an approval to the action whose arguments the approver changed, once its hash is known. */
export async function bindGrant(
  db: Database,
  tenantId: number,
  pendingActionId: string,
  digest: string,
): Promise<void> {
  await db
    .updateTable('approval_grants')
    .set({ action_digest: digest })
    .where('tenant_id', '=', tenantId)
    .where('pending_action_id', '=', pendingActionId)
    .execute();
}

/** Revokes a grant. Returns `false` if it was revoked before. */
export async function revokeGrant(
  db: Database,
  { tenant_id: tenantId, id }: Pick<ApprovalGrantRow, 'tenant_id' | 'id'>,
  revokedBy: Pick<ApprovalGrantRow, 'revoked_by' | 'revoked_principal'>,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable('approval_grants')
    .set({ revoked_ms: nowMs, ...revokedBy })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('revoked_ms', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Deletes the grants of a session. */
export async function dropGrantsOf(db: Database, tenantId: number, sessionId: string): Promise<void> {
  await db
    .deleteFrom('approval_grants')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .execute();
}
