import type { Insertable, Selectable } from 'kysely';
import { lockRows } from './locks.ts';
import { oneOf } from './one-of.ts';
import type { PendingActionTable } from './policy-schema.ts';
import { type Slice, sliceWithin } from './slice.ts';
import type { Database } from './transaction.ts';

/** A stored pending action. */
export type PendingActionRow = Selectable<PendingActionTable>;

/** Whether the time of an action is over, and nothing that is committed has ended it yet. */
export function isOverdue(row: Pick<PendingActionRow, 'status' | 'expires_ms'>, nowMs: number): boolean {
  return row.status === 'pending' && row.expires_ms <= nowMs;
}

/** The status at a moment: an action past its time is expired, whether or not the sweep has come by. */
export function statusAt(row: PendingActionRow, nowMs: number): PendingActionRow['status'] {
  return isOverdue(row, nowMs) ? 'expired' : row.status;
}

/** Adds a pending action. */
export async function insertPendingAction(db: Database, row: Insertable<PendingActionTable>): Promise<void> {
  await db.insertInto('pending_actions').values(row).execute();
}

/** One pending action, or undefined. */
export function findPendingAction(
  db: Database,
  tenantId: number,
  id: string,
): Promise<PendingActionRow | undefined> {
  return ofId(db, tenantId, id).executeTakeFirst();
}

/** As `findPendingAction`, for a write: nobody else ends it until the transaction ends. */
export function lockPendingAction(
  db: Database,
  tenantId: number,
  id: string,
): Promise<PendingActionRow | undefined> {
  return lockRows(db, ofId(db, tenantId, id)).executeTakeFirst();
}

function ofId(db: Database, tenantId: number, id: string) {
  return db.selectFrom('pending_actions').selectAll().where('tenant_id', '=', tenantId).where('id', '=', id);
}

/** The actions of a session; nobody else ends them until the transaction ends. */
export function lockActionsOf(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<Pick<PendingActionRow, 'id' | 'status' | 'expires_ms'>[]> {
  const ofSession = db
    .selectFrom('pending_actions')
    .select(['id', 'status', 'expires_ms'])
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .orderBy('id');
  return lockRows(db, ofSession).execute();
}

/** Drops actions, and what is known of the calls that they were held for. */
export async function dropPendingActions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<void> {
  const idsJson = JSON.stringify(ids);
  await db
    .deleteFrom('checked_actions')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'pending_action_id', idsJson))
    .execute();
  await db
    .deleteFrom('pending_actions')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', idsJson))
    .execute();
}

/** The same action of the same agent and session that waits already, or undefined. */
export function findSameAction(
  db: Database,
  wanted: Pick<PendingActionRow, 'tenant_id' | 'agent_id' | 'session_id' | 'action_digest'>,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  return db
    .selectFrom('pending_actions')
    .selectAll()
    .where('tenant_id', '=', wanted.tenant_id)
    .where('agent_id', '=', wanted.agent_id)
    .where('action_digest', '=', wanted.action_digest)
    .where('session_id', wanted.session_id === null ? 'is' : '=', wanted.session_id)
    .where('status', '=', 'pending')
    .where('expires_ms', '>', nowMs)
    .limit(1)
    .executeTakeFirst();
}

/** A slice of the pending actions, the newest first. There are fewer than `limit` where their arguments are large. */
export function listPendingActions(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly status: PendingActionRow['status'];
    readonly agentId?: string | undefined;
    readonly sessionId?: string | undefined;
    readonly nowMs: number;
    readonly after?: { readonly createdMs: number; readonly id: string } | undefined;
    readonly limit: number;
  },
): Promise<Slice<PendingActionRow>> {
  const { after, agentId, sessionId, status, nowMs } = options;
  let query = db.selectFrom('pending_actions').selectAll().where('tenant_id', '=', options.tenantId);
  if (status === 'pending') {
    query = query.where('status', '=', 'pending').where('expires_ms', '>', nowMs);
  } else if (status === 'expired') {
    query = query.where((eb) =>
      eb.or([
        eb('status', '=', 'expired'),
        eb.and([eb('status', '=', 'pending'), eb('expires_ms', '<=', nowMs)]),
      ]),
    );
  } else {
    query = query.where('status', '=', status);
  }
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
  if (sessionId !== undefined) query = query.where('session_id', '=', sessionId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_ms', 'id'), '<', tuple(after.createdMs, after.id)),
    );
  }
  return sliceWithin(options.limit, 'action', query.orderBy('created_ms', 'desc').orderBy('id', 'desc'));
}

/** What ends the waiting of an action. */
export type PendingActionEnd = Pick<PendingActionRow, 'status' | 'comment' | 'decided_by' | 'decided_ms'>;

/**
 * Ends the waiting of an action if it still waits: of racing ends exactly one returns true. A decision comes before
 * the action's time is over and an expiry after it, so at no moment are both possible.
 */
export async function endPendingAction(
  db: Database,
  tenantId: number,
  id: string,
  end: PendingActionEnd,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable('pending_actions')
    .set(end)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .where('expires_ms', end.status === 'expired' ? '<=' : '>', nowMs)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Actions of any tenant whose time is over, the first to end first. */
export function overduePendingActions(
  db: Database,
  nowMs: number,
  limit: number,
): Promise<PendingActionRow[]> {
  return db
    .selectFrom('pending_actions')
    .selectAll()
    .where('status', '=', 'pending')
    .where('expires_ms', '<=', nowMs)
    .orderBy('expires_ms')
    .limit(limit)
    .execute();
}
