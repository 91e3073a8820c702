import type { WebhookEvent } from '@actlog/protocol';
import { type Selectable, sql } from 'kysely';
import { lowestIdentifierOf } from '../../lib/identifier.ts';
import { lockRows } from '../locks.ts';
import { dropRows, keyedTable, type OldRows, oldRows } from '../retention/drop-rows.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import type { DeliveryTable } from '../tables.ts';
import { bulkInsert, type Database, oneOf } from '../transaction.ts';

/** A stored delivery. */
export type DeliveryRow = Selectable<DeliveryTable>;

/** Adds deliveries to the outbox. */
export const insertDeliveries: (db: Database, rows: readonly DeliveryRow[]) => Promise<number> = bulkInsert(
  'deliveries',
  [
    'tenant_id',
    'id',
    'channel_id',
    'message_id',
    'event_type',
    'body',
    'status',
    'attempts',
    'next_attempt_ms',
    'leased_until_ms',
    'created_ms',
    'finished_ms',
    'last_status',
    'last_error',
    'last_duration_ms',
    'subject',
    'recipient',
    'reference',
  ],
  (insert) => insert,
);

/** Tenants and webhooks whose deliveries must wait because their delivery slots are in use. */
export interface BusyReceivers {
  readonly tenantIds: readonly number[];
  readonly channelIds: readonly string[];
}

/** Returns deliveries that are due, not leased and not of a busy receiver, longest due first. */
export function dueDeliveries(
  db: Database,
  nowMs: number,
  { tenantIds, channelIds }: BusyReceivers,
  limit: number,
): Promise<DeliveryRow[]> {
  let query = db
    .selectFrom('deliveries')
    .selectAll()
    .where('status', '=', 'waiting')
    .where('next_attempt_ms', '<=', nowMs)
    .where('leased_until_ms', '<=', nowMs);
  if (tenantIds.length > 0) query = query.where('tenant_id', 'not in', [...tenantIds]);
  if (channelIds.length > 0) query = query.where('channel_id', 'not in', [...channelIds]);
  return query.orderBy('next_attempt_ms').limit(limit).execute();
}

/** Leases deliveries to this process until `untilMs`. Skips those that another process has leased or is leasing. */
export async function leaseDeliveries(
  db: Database,
  due: readonly DeliveryRow[],
  untilMs: number,
): Promise<DeliveryRow[]> {
  const leased: DeliveryRow[] = [];
  for (const row of due) {
    const { tenant_id: tenantId, id, leased_until_ms: seenLeaseMs } = row;
    const free = db
      .selectFrom('deliveries')
      .select('id')
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .where('status', '=', 'waiting')
      .where('leased_until_ms', '=', seenLeaseMs);
    const result = await db
      .updateTable('deliveries')
      .set({ leased_until_ms: untilMs })
      .where('tenant_id', '=', tenantId)
      .where('id', 'in', lockRows(db, free, 'skip'))
      .executeTakeFirst();
    if (result.numUpdatedRows > 0n) leased.push(row);
  }
  return leased;
}

/** Columns of a delivery that an attempt or a replay changes. */
type DeliveryChanges = Partial<
  Pick<
    DeliveryRow,
    | 'status'
    | 'attempts'
    | 'next_attempt_ms'
    | 'leased_until_ms'
    | 'finished_ms'
    | 'last_status'
    | 'last_error'
    | 'last_duration_ms'
    | 'reference'
  >
>;

/** Changes a delivery. */
export async function updateDelivery(
  db: Database,
  row: Pick<DeliveryRow, 'tenant_id' | 'id'>,
  changes: DeliveryChanges,
): Promise<void> {
  await change(db, row, changes).execute();
}

/**
 * Changes a delivery after an attempt of `row`, and releases its lease. If a replay was requested during the attempt,
 * the delivery keeps waiting for the replay.
 */
export async function finishAttempt(
  db: Database,
  row: DeliveryRow,
  outcome: Pick<DeliveryChanges, 'last_status' | 'last_error' | 'last_duration_ms' | 'reference'>,
  changes: DeliveryChanges,
): Promise<void> {
  const tried = { ...outcome, leased_until_ms: 0 };
  const result = await change(db, row, { ...tried, ...changes })
    .where('next_attempt_ms', '=', row.next_attempt_ms)
    .executeTakeFirst();
  if (result.numUpdatedRows === 0n) await updateDelivery(db, row, tried);
}

function change(
  db: Database,
  { tenant_id: tenantId, id }: Pick<DeliveryRow, 'tenant_id' | 'id'>,
  changes: DeliveryChanges,
) {
  return db.updateTable('deliveries').set(changes).where('tenant_id', '=', tenantId).where('id', '=', id);
}

/**
 * Makes the messages about a held action show it as it is now: those that were sent are due again, and those that wait
 * for their first attempt, such as a reminder, are dropped if the action has ended. A message that is being sent is due
 * again after its attempt.
 */
export async function refreshDeliveries(
  db: Database,
  tenantId: number,
  subject: string,
  { hasEnded, nowMs }: { readonly hasEnded: boolean; readonly nowMs: number },
): Promise<void> {
  // Locked, so that no process begins to send one meanwhile: its message would never be changed.
  const query = db
    .selectFrom('deliveries')
    .select(['tenant_id', 'id', 'status', 'reference', 'leased_until_ms', 'next_attempt_ms'])
    .where('tenant_id', '=', tenantId)
    .where('subject', '=', subject)
    .orderBy('id');
  for (const row of await lockRows(db, query).execute()) {
    const isInFlight = row.status === 'waiting' && row.leased_until_ms > nowMs;
    if (row.reference !== null || isInFlight) {
      // Always another time than before, by which an attempt in progress finds that it has to repeat.
      const dueMs = Math.max(nowMs, row.next_attempt_ms + 1);
      await updateDelivery(db, row, {
        status: 'waiting',
        attempts: 0,
        next_attempt_ms: dueMs,
        finished_ms: null,
      });
    } else if (hasEnded && row.status === 'waiting') {
      await dropDeliveries(db, tenantId, [row.id]);
    }
  }
}

/** Returns the delivery log of a webhook, newest first. */
export function listDeliveries(
  db: Database,
  tenantId: number,
  channelId: string,
  limit: number,
): Promise<DeliveryRow[]> {
  return db
    .selectFrom('deliveries')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', channelId)
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Returns a delivery, or `undefined` if there is none. */
export function findDelivery(db: Database, tenantId: number, id: string): Promise<DeliveryRow | undefined> {
  return db
    .selectFrom('deliveries')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Returns the error of the newest message to a channel that failed or is repeated; `null` for none. */
export async function lastDeliveryError(
  db: Database,
  tenantId: number,
  channelId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('deliveries')
    .select('last_error')
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', channelId)
    .where('last_error', 'is not', null)
    .orderBy('created_ms', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return row?.last_error ?? null;
}

/** Returns the reference of the card of a held action in a channel; `null` if none was sent. */
export async function cardReference(
  db: Database,
  tenantId: number,
  actionId: string,
  channelId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('deliveries')
    .select('reference')
    .where('tenant_id', '=', tenantId)
    .where('subject', '=', actionId)
    .where('channel_id', '=', channelId)
    .where('event_type', '=', 'approval.card')
    .executeTakeFirst();
  return row?.reference ?? null;
}

/** Returns a slice of the delivery log of a webhook, newest first. */
export function deliveryPage(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly channelId: string;
    readonly status?: DeliveryRow['status'] | undefined;
    readonly after?: { readonly createdMs: number; readonly id: string } | undefined;
    readonly limit: number;
  },
): Promise<Slice<DeliveryRow>> {
  const { after, status } = options;
  let query = db
    .selectFrom('deliveries')
    .selectAll()
    .where('tenant_id', '=', options.tenantId)
    .where('channel_id', '=', options.channelId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_ms', 'id'), '<', tuple(after.createdMs, after.id)),
    );
  }
  return querySliceWithin(options.limit, ['body'], query.orderBy('created_ms', 'desc').orderBy('id', 'desc'));
}

/**
 * Deletes messages to a webhook, sent or not, up to the limit of one transaction.
 *
 * @returns `true` if there can be more.
 */
export async function dropDeliveriesTo(db: Database, tenantId: number, channelId: string): Promise<boolean> {
  const condition = sql`tenant_id = ${tenantId} and channel_id = ${channelId}`;
  return (await dropRows(db, keyedTable('deliveries', 'id'), condition)).hasMore;
}

/** Returns the ids of the messages about a session that were queued since a time, sent or not. */
export async function deliveriesAbout(
  db: Database,
  tenantId: number,
  sessionId: string,
  sinceMs: number,
): Promise<string[]> {
  const quoted = JSON.stringify({ sessionId }).slice(1, -1);
  const found = await db
    .selectFrom('deliveries')
    .select(['id', 'body'])
    .where('tenant_id', '=', tenantId)
    .where('id', '>=', lowestIdentifierOf('dlv', sinceMs))
    .where(sql<boolean>`body like ${`%${quoted.replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`)
    .execute();
  // The `like` can also match the displayed arguments of an action.
  const about = found.filter(({ body }) => (JSON.parse(body) as WebhookEvent).data.sessionId === sessionId);
  return about.map(({ id }) => id);
}

/** Deletes messages. */
export async function dropDeliveries(db: Database, tenantId: number, ids: readonly string[]): Promise<void> {
  await db
    .deleteFrom('deliveries')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .execute();
}

/** Returns the finished deliveries of a tenant that are older than `beforeMs`, for deletion from the log. */
export function oldDeliveries(tenantId: number, beforeMs: number): OldRows {
  return oldRows({
    table: 'deliveries',
    key: ['id'],
    age: 'created_ms',
    beforeMs,
    where: sql`tenant_id = ${tenantId} and status <> 'waiting'`,
  });
}

/** `true` if a tenant has finished deliveries that are older than `beforeMs`. */
export async function hasOldDeliveries(db: Database, tenantId: number, beforeMs: number): Promise<boolean> {
  const found = await db
    .selectFrom('deliveries')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('status', '<>', 'waiting')
    .where('created_ms', '<', beforeMs)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
