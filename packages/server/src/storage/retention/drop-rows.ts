import { type RawBuilder, sql } from 'kysely';
import {
  beginDeletion,
  type DeletionReason,
  type EntryRanges,
  lockLog,
  logDeletion,
  logDroppedArrivals,
} from '../log/tenant-log.ts';
import { dropEventRows } from '../postgres/event-rows.ts';
import type { Tables } from '../schema.ts';
import { lockSessions, type SessionSummary } from '../sessions/session-store.ts';
import { ofSession } from '../stores/event-log.ts';
import { addUsage } from '../stores/quota-store.ts';
import { type Database, isPostgres, oneOf } from '../transaction.ts';

/** Maximum rows that one transaction deletes, so that other transactions get their turn. */
const maxRows = 1000;

/** A table of tenants, and the columns of its key within a tenant. */
export interface KeyedTable<Table extends keyof Tables = keyof Tables> {
  readonly table: Table;
  readonly key: readonly Exclude<keyof Tables[Table] & string, 'tenant_id'>[];
}

/** Describes a table by its name and the columns of its key within a tenant. */
export function keyedTable<Table extends keyof Tables>(
  table: Table,
  ...key: KeyedTable<Table>['key']
): KeyedTable {
  return { table, key } as unknown as KeyedTable;
}

/** Result of one transaction that deletes rows. */
export interface DroppedRows {
  readonly count: number;
  /** `true` if there can be more rows. */
  readonly hasMore: boolean;
}

/**
 * Deletes rows of a table, up to the limit of one transaction.
 *
 * @param condition - the condition on the rows, and their order where it matters
 */
export async function dropRows(
  db: Database,
  { table, key }: KeyedTable,
  condition: RawBuilder<unknown>,
): Promise<DroppedRows> {
  // Rows of other tenants may have the same key, and on SQLite nothing else would keep them.
  const columns = sql.join(['tenant_id', ...key].map((column) => sql.ref(column)));
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${condition} limit ${sql.lit(maxRows)}
    )`.execute(db);
  return { count: Number(numAffectedRows), hasMore: numAffectedRows >= maxRows };
}

/** Options for {@link dropSessions}. */
export interface DropSessionsOptions {
  /** Checked again on each session once it is locked. Default: every session is deleted. */
  readonly shouldDrop?: (session: SessionSummary) => boolean;
  /** Reason that the log has; `undefined` if the log is deleted too. */
  readonly reason: DeletionReason | undefined;
  /** Entries of their events that the database does not have any more. */
  readonly oldEntries?: EntryRanges;
}

/** Maximum events of a session that are deleted in the transaction that deletes the session. */
export const maxEventsAtOnce = 2000;

/**
 * Deletes sessions with their events, their risk, and what people found out about them. No read shows any of it from then
 * on. {@link dropRestOfSessions} deletes the events of a long session, in separate transactions.
 *
 * @returns the number of sessions deleted.
 */
export async function dropSessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  nowMs: number,
  { shouldDrop = () => true, reason, oldEntries = [] }: DropSessionsOptions,
): Promise<number> {
  if (reason) await beginDeletion(db, tenantId, ids);
  // Events may have arrived since the sessions were found; the locks keep out further ones.
  const dropped = [...(await lockSessions(db, tenantId, ids)).values()].filter(shouldDrop);
  const isLong = await longSessions(db, tenantId, dropped);
  const [long = [], short = []] = [true, false].map((is) => dropped.filter(({ id }) => isLong(id) === is));
  await dropRowsOfSessions(db, tenantId, long, short);
  const shortIds = short.map(({ id }) => id);
  for (const { id, last_arrival: lastArrival } of long) {
    const rest = { last_arrival: lastArrival, reason: reason ? JSON.stringify(reason) : null };
    await db
      .insertInto('dropped_sessions')
      .values({ tenant_id: tenantId, session_id: id, ...rest })
      .onConflict((conflict) => conflict.columns(['tenant_id', 'session_id']).doUpdateSet(rest))
      .execute();
  }
  if (reason) await logDeletion(db, tenantId, 'event', shortIds, reason, oldEntries);
  await addUsage(db, tenantId, { events: 0, sessions: -dropped.length }, nowMs, false);
  return dropped.length;
}

/** Returns a condition for sessions with too many events for one transaction: their own, or of an earlier deletion. */
async function longSessions(
  db: Database,
  tenantId: number,
  sessions: readonly SessionSummary[],
): Promise<(id: string) => boolean> {
  const long = sessions.filter(({ event_count: events }) => events > maxEventsAtOnce).map(({ id }) => id);
  const rest = await db
    .selectFrom('dropped_sessions')
    .select('session_id')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'session_id', JSON.stringify(sessions.map(({ id }) => id))))
    .execute();
  const ids = new Set([...long, ...rest.map(({ session_id: id }) => id)]);
  return (id) => ids.has(id);
}

/** Deletes all rows of sessions, with one statement for each table, but the events of long ones. */
async function dropRowsOfSessions(
  db: Database,
  tenantId: number,
  long: readonly SessionSummary[],
  short: readonly SessionSummary[],
): Promise<void> {
  if (long.length + short.length === 0) return;
  const ids = JSON.stringify([...long, ...short].map(({ id }) => id));
  await dropEvents(db, tenantId, short);
  const tables = [
    'session_agents',
    'session_tools',
    'session_risk',
    'call_histories',
    'risk_judgments',
    'handled_sessions',
    'session_notes',
    'forwarded_risk',
    'sessions',
  ] as const;
  for (const table of tables) {
    await db
      .deleteFrom(table)
      .where('tenant_id', '=', tenantId)
      .where(oneOf(db, table === 'sessions' ? 'id' : 'session_id', ids))
      .execute();
  }
}

async function dropEvents(
  db: Database,
  tenantId: number,
  sessions: readonly SessionSummary[],
): Promise<void> {
  if (sessions.length === 0) return;
  if (isPostgres(db)) return dropEventRows(db, tenantId, sessions);
  await db
    .deleteFrom('events')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'session_id', JSON.stringify(sessions.map(({ id }) => id))))
    .execute();
}

/**
 * Deletes some of what is left of a tenant's long sessions that were deleted: the ranges of the log with a record of their
 * deletion, and then the events.
 *
 * @param limit - maximum rows
 * @returns `true` if there can be more
 */
export async function dropRestOfSessions(db: Database, tenantId: number, limit: number): Promise<boolean> {
  await lockLog(db, tenantId);
  const rest = await db
    .selectFrom('dropped_sessions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('session_id')
    .limit(1)
    .executeTakeFirst();
  if (!rest) return false;
  const { session_id: sessionId, reason } = rest;
  const lastArrival = Number(rest.last_arrival);
  if (reason !== null) {
    const dropped = { sessionId, lastArrival, reason: JSON.parse(reason) as DeletionReason };
    if (await logDroppedArrivals(db, tenantId, dropped, limit)) return true;
  }
  const [table, row, order] = isPostgres(db)
    ? (['event_rows', 'ctid', 'arrival'] as const)
    : (['events', 'rowid', 'source_ms'] as const);
  const found = sql`
    select ${sql.ref(row)} from ${sql.table(table)}
    where tenant_id = ${tenantId} and ${ofSession(db, sessionId)} and arrival <= ${lastArrival}
    order by ${sql.ref(order)} limit ${limit}`;
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)}
    where ${sql.ref(row)} ${isPostgres(db) ? sql`= any(array(${found}))` : sql`in (${found})`}
  `.execute(db);
  if (Number(numAffectedRows) === limit) return true;
  await db
    .deleteFrom('dropped_sessions')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .execute();
  return true;
}

/** Returns the tenants with deleted sessions of which something is left. Work across tenants. */
export async function tenantsWithRest(db: Database): Promise<number[]> {
  const rows = await db.selectFrom('dropped_sessions').select('tenant_id').distinct().execute();
  return rows.map(({ tenant_id: id }) => Number(id));
}

/** Rows of a table that are past their retention. An index on their age finds them without a table scan. */
export interface OldRows<Table extends keyof Tables = keyof Tables> extends KeyedTable<Table> {
  /** Column with the time at which a row was created, in Unix milliseconds. */
  readonly age: keyof Tables[Table] & string;
  /** Rows created before this time are old, in Unix milliseconds. */
  readonly beforeMs: number;
  /** Further condition on the rows. */
  readonly where?: RawBuilder<boolean>;
}

/** Describes the old rows of a table. */
export function oldRows<Table extends keyof Tables>(rows: OldRows<Table>): OldRows {
  return rows as unknown as OldRows;
}

/** Deletes the oldest of the rows, up to the limit of one transaction. Returns `true` if there can be more. */
export async function dropOldest(
  db: Database,
  { age, beforeMs, where = sql`true`, ...rows }: OldRows,
): Promise<boolean> {
  const condition = sql`${sql.ref(age)} < ${beforeMs} and ${where} order by ${sql.ref(age)}`;
  return (await dropRows(db, rows, condition)).hasMore;
}
