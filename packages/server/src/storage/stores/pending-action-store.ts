import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely';
import { lockRows } from '../locks.ts';
import { type DeletionReason, logDeletion, logLater } from '../log/tenant-log.ts';
import type { PendingActionTable } from '../policies/policy-schema.ts';
import type { Tables } from '../schema.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import { type Database, isPostgres, oneOf } from '../transaction.ts';
import { addUsage } from './quota-store.ts';

/** A stored pending action. */
export type PendingActionRow = Selectable<PendingActionTable>;

/** `true` if an action is past its expiry and its stored status is still `pending`. */
export function isOverdue(row: Pick<PendingActionRow, 'status' | 'expires_ms'>, nowMs: number): boolean {
  return row.status === 'pending' && row.expires_ms <= nowMs;
}

/**
 * Returns the status at a given time: an action past its expiry is `expired`, even before the sweep has stored that.
 */
export function statusAt(row: PendingActionRow, nowMs: number): PendingActionRow['status'] {
  return isOverdue(row, nowMs) ? 'expired' : row.status;
}

/** Adds a pending action. */
export async function insertPendingAction(db: Database, row: Insertable<PendingActionTable>): Promise<void> {
  await db.insertInto('pending_actions').values(row).execute();
}

/** Returns a pending action, or `undefined` if there is none. */
export function findPendingAction(
  db: Database,
  tenantId: number,
  id: string,
): Promise<PendingActionRow | undefined> {
  return ofId(db, tenantId, id).executeTakeFirst();
}

/** Like {@link findPendingAction}, and locks the action until the transaction ends. */
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

/** Part of a held action that a deletion depends on. */
export type DroppableAction = Pick<PendingActionRow, (typeof droppableColumns)[number]>;

const droppableColumns = [
  'id',
  'status',
  'agent_id',
  'session_id',
  'parent_agents',
  'created_ms',
  'expires_ms',
  'decided_ms',
] as const;

/** Returns the held actions of a session, and locks them until the transaction ends. */
export function lockActionsOf(db: Database, tenantId: number, sessionId: string): Promise<DroppableAction[]> {
  const ofSession = db
    .selectFrom('pending_actions')
    .select(droppableColumns)
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .orderBy('id');
  return lockRows(db, ofSession).execute();
}

/** Returns the oldest of a tenant's actions that were held before a time, after one of them. */
export function actionsBefore(
  db: Database,
  tenantId: number,
  {
    after,
    beforeMs,
    limit,
  }: {
    readonly after: { readonly atMs: number; readonly id: string };
    readonly beforeMs: number;
    readonly limit: number;
  },
): Promise<DroppableAction[]> {
  return db
    .selectFrom('pending_actions')
    .select(droppableColumns)
    .where('tenant_id', '=', tenantId)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('created_ms', 'id'), '>', tuple(after.atMs, after.id)))
    .where('created_ms', '<', beforeMs)
    .orderBy('created_ms')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Returns the time at which a held action ended; `undefined` while it waits. */
export function endedMs({ status, expires_ms, decided_ms }: DroppableAction): number | undefined {
  return status === 'pending' ? undefined : Number(decided_ms ?? expires_ms);
}

/**
 * Deletes held actions with the checked actions that refer to them, and subtracts them from the tenant's usage. The log
 * must be locked.
 */
export async function dropPendingActions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  reason: DeletionReason,
): Promise<void> {
  await logDeletion(db, tenantId, 'approval', ids, reason);
  await db
    .deleteFrom('checked_actions')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'pending_action_id', JSON.stringify(ids)))
    .execute();
  // PostgreSQL and SQLite name the function for bytes of UTF-8 differently.
  const bytes = isPostgres(db)
    ? sql<number>`octet_length(action)`
    : sql<number>`length(cast(action as blob))`;
  const dropped = await db
    .deleteFrom('pending_actions')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .returning(['status', bytes.as('bytes')])
    .execute();
  const amounts = {
    heldActions: -dropped.filter(({ status }) => status === 'pending').length,
    heldActionBytes: -dropped.reduce((sum, row) => sum + Number(row.bytes), 0),
  };
  await addUsage(db, tenantId, amounts, Date.now());
}

/**
 * Returns a pending action of the same agent and session with the same digest, or `undefined` if there is none. If the
 * requester cannot approve it, its check was sent with the same key.
 */
export function findSameAction(
  db: Database,
  action: Pick<PendingActionRow, 'tenant_id' | 'agent_id' | 'session_id' | 'action_digest' | 'requested_by'>,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  return db
    .selectFrom('pending_actions')
    .selectAll()
    .where('tenant_id', '=', action.tenant_id)
    .where('agent_id', '=', action.agent_id)
    .where('action_digest', '=', action.action_digest)
    .where('session_id', action.session_id === null ? 'is' : '=', action.session_id)
    .where('status', '=', 'pending')
    .where('expires_ms', '>', nowMs)
    .where((eb) => eb.or([eb('not_requester', '=', 0), eb('requested_by', '=', action.requested_by)]))
    .limit(1)
    .executeTakeFirst();
}

/** Returns a slice of the pending actions, newest first. It has fewer than `limit` rows when arguments are large. */
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
  return querySliceWithin(
    options.limit,
    ['action'],
    query.orderBy('created_ms', 'desc').orderBy('id', 'desc'),
  );
}

/** Returns pending actions of any tenant that are past their expiry, earliest expiry first. */
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

/** Columns that a decision or an expiry writes. */
export interface PendingActionEnd
  extends Pick<
    PendingActionRow,
    'comment' | 'decided_by' | 'decided_principal' | 'decided_ms' | 'approvals' | 'grant_id' | 'changes'
  > {
  readonly status: Exclude<PendingActionRow['status'], 'pending'>;
  /** Earlier expiry of an action that is withdrawn. Default: unchanged. */
  readonly expires_ms?: number;
}

type PendingActionKey = Pick<PendingActionRow, 'tenant_id' | 'id'>;

/** Changes an action that meets a condition. Returns `false` if it does not, as after the change of a racing call. */
async function changeIf(
  db: Database,
  { tenant_id: tenantId, id }: PendingActionKey,
  change: Updateable<PendingActionTable>,
  condition: (eb: ExpressionBuilder<Tables, 'pending_actions'>) => Expression<SqlBool>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('pending_actions')
    .set(change)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(condition)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Ends a pending action: of racing calls exactly one returns `true`. A decision is possible only before the action's
 * expiry and an expiry only after it, so the two are never possible at the same time.
 */
export async function endPendingAction(
  db: Database,
  tenantId: number,
  id: string,
  end: PendingActionEnd,
  nowMs: number,
): Promise<boolean> {
  const isEnded = await changeIf(db, { tenant_id: tenantId, id }, end, (eb) =>
    eb.and([eb('status', '=', 'pending'), eb('expires_ms', end.status === 'expired' ? '<=' : '>', nowMs)]),
  );
  if (isEnded) await logLater(db, tenantId, 'approval', [id]);
  return isEnded;
}

/**
 * Stores the approvals of a pending action and what they are for. The action must be locked. Returns `false` if the action
 * is no longer pending.
 */
export function saveApprovals(
  db: Database,
  action: PendingActionKey,
  given: Pick<PendingActionRow, 'approvals' | 'changes'>,
  nowMs: number,
): Promise<boolean> {
  return changeIf(db, action, given, (eb) =>
    eb.and([eb('status', '=', 'pending'), eb('expires_ms', '>', nowMs)]),
  );
}

/** Marks a single-use approval as used by a check. Of racing checks exactly one returns `true`. */
export function markApprovalUsed(
  db: Database,
  action: PendingActionKey,
  actionId: string | undefined,
  nowMs: number,
): Promise<boolean> {
  const use = { used_by: actionId ?? null, used_ms: nowMs };
  return changeIf(db, action, use, (eb) => eb('used_ms', 'is', null));
}

/** Stores the hash of the changed arguments that a check is about to run. Of racing checks exactly one returns `true`. */
export function markChangedRun(
  db: Database,
  action: PendingActionKey,
  executedHash: string,
): Promise<boolean> {
  return changeIf(db, action, { executed_hash: executedHash }, (eb) => eb('executed_hash', 'is', null));
}

/** Sets a later expiry of a pending action. Returns `false` if it has ended meanwhile. */
export function lengthenHold(db: Database, action: PendingActionKey, expiresMs: number): Promise<boolean> {
  return changeIf(db, action, { expires_ms: expiresMs }, (eb) => eb('status', '=', 'pending'));
}
