import { type RawBuilder, sql } from 'kysely';
import { beginDeletion, type DeletionReason, type EntryRanges, logDeletion } from '../log/tenant-log.ts';
import { dropEventRows } from '../postgres/event-rows.ts';
import type { Tables } from '../schema.ts';
import { lockSessions, type SessionSummary } from '../sessions/session-store.ts';
import { addUsage } from '../stores/quota-store.ts';
import { type Database, isPostgres, oneOf } from '../transaction.ts';

/** Maximum rows that one transaction deletes, so that other transactions get their turn. */
const maxRows = 1000;

/** A table and the columns of its key within a tenant. */
export interface KeyedTable<Table extends keyof Tables = keyof Tables> {
  readonly table: Table;
  readonly key: readonly (keyof Tables[Table] & string)[];
}

/** Describes a table by its name and the columns of its key. */
export function keyedTable<Table extends keyof Tables>(
  table: Table,
  ...key: readonly (keyof Tables[Table] & string)[]
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
  const columns = sql.join(key.map((column) => sql.ref(column)));
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

/**
 * Deletes sessions with their events, their risk, and what people found out about them.
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
  await dropRowsOfSessions(db, tenantId, dropped);
  const droppedIds = dropped.map(({ id }) => id);
  if (reason) await logDeletion(db, tenantId, 'event', droppedIds, reason, oldEntries);
  await addUsage(db, tenantId, { events: 0, sessions: -dropped.length }, nowMs, false);
  return dropped.length;
}

/** Deletes all rows of sessions, with one statement for each table. */
async function dropRowsOfSessions(
  db: Database,
  tenantId: number,
  sessions: readonly SessionSummary[],
): Promise<void> {
  if (sessions.length === 0) return;
  const ids = JSON.stringify(sessions.map(({ id }) => id));
  if (isPostgres(db)) await dropEventRows(db, tenantId, sessions);
  const tables = [
    ...(isPostgres(db) ? [] : (['events'] as const)),
    'session_agents',
    'session_tools',
    'session_risk',
    'call_histories',
    'risk_judgments',
    'handled_sessions',
    'session_notes',
    'forwarded_risk',
  ] as const;
  for (const table of tables) {
    await db
      .deleteFrom(table)
      .where('tenant_id', '=', tenantId)
      .where(oneOf(db, 'session_id', ids))
      .execute();
  }
  await db
    .deleteFrom('sessions')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', ids))
    .execute();
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
