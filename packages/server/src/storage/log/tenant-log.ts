import { hash, randomBytes } from 'node:crypto';
import {
  appendEntries,
  emptyRoot,
  type LogRecord,
  type RecordKind,
  recordEntry,
  type StoredTile,
  saltBytes,
  type Tile,
  type TileStore,
} from '@actlog/log';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { newIdentifierAt } from '../../lib/identifier.ts';
import { isoTime } from '../../lib/iso-time.ts';
import { lockNames } from '../locks.ts';
import type { EventTable } from '../schema.ts';
import { type ArrivalRange, eventsOfRanges, type RecentEvents } from '../stores/event-log.ts';
import type { LogRangeTable } from '../tables.ts';
import { bulkInsert, type Database, isPostgres, oneOf } from '../transaction.ts';
import { eventRecord, findRecords, type PendingKind } from './log-records.ts';

/** Maximum arrivals of events, and of other records, in one transaction. */
export const maxLoggedEvents = 1024;
const maxLoggedOthers = 500;

/** Maximum arrivals of events in one transaction unless the caller knows how large they are. */
const defaultMaxEvents = 64;

/** Average bytes of payloads up to which a batch may have the maximum of events. */
const smallEventBytes = 4096;

/** Name of the lock under which entries are appended to the log of a tenant. */
const logLock = 'log';

/** Level of the rows with entries, besides the levels of hashes. */
const entriesLevel = -1;

/** Bytes of a hash in a tile, and of an entry in a bundle with its length. */
const tileItemBytes = { hashes: 32, entries: 34 } as const;

/** The state of a log that is durable. */
export interface LogHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** Records that wait to be logged, with their entries. */
export interface LogBatch {
  readonly entries: readonly Uint8Array[];
  readonly ranges: readonly Omit<Selectable<LogRangeTable>, 'tenant_id' | 'first_index'>[];
  /** Sessions, with the arrivals up to which they were logged before, and are after the batch. */
  readonly sessions: readonly { readonly id: string; readonly from: number; readonly to: number }[];
  readonly pending: readonly { readonly kind: PendingKind; readonly id: string }[];
  /** Number of the newest row of events when the batch was read; SQLite only. */
  readonly lastRow?: number | undefined;
  /** Bytes of the payloads of its events. */
  readonly payloadBytes: number;
  /** `true` if nothing else waited. */
  readonly isAll: boolean;
}

/** Error thrown when another process has logged some records of a batch. The batch must be read again. */
export class LoggedMeanwhile extends Error {
  constructor() {
    super('Another process has logged these records.');
  }
}

/** Returns the head of a tenant's log. */
export async function logHead(db: Database, tenantId: number): Promise<LogHead> {
  const row = await db
    .selectFrom('log_heads')
    .select(['size', 'root'])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return row ? { size: row.size, root: Buffer.from(row.root, 'base64') } : { size: 0, root: emptyRoot };
}

/**
 * Returns an index of a log before which everything was appended before a time, to the minute; `undefined` if nothing was
 * appended since.
 */
export async function firstIndexFrom(
  db: Database,
  tenantId: number,
  timeMs: number,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('log_times')
    .select('first_index')
    .where('tenant_id', '=', tenantId)
    .where('minute', '>=', Math.floor(timeMs / 60_000))
    .orderBy('minute')
    .limit(1)
    .executeTakeFirst();
  return row && Number(row.first_index);
}

/** Returns the tiles of a tenant's log. Only the widest of a place is stored, and narrower ones are its beginning. */
export function tenantTiles(db: Database, tenantId: number): TileStore {
  return {
    async readTile({ level, index, width }: Tile) {
      const row = await db
        .selectFrom('log_tiles')
        .select('bytes')
        .where('tenant_id', '=', tenantId)
        .where('level', '=', level === 'entries' ? entriesLevel : level)
        .where('tile', '=', index)
        .executeTakeFirst();
      const length = width * tileItemBytes[level === 'entries' ? 'entries' : 'hashes'];
      return row && row.bytes.length >= length ? row.bytes.subarray(0, length) : undefined;
    },
    async writeTiles(tiles: readonly StoredTile[]) {
      const rows = tiles.map(({ tile: { level, index }, bytes }) => ({
        tenant_id: tenantId,
        level: level === 'entries' ? entriesLevel : level,
        tile: index,
        bytes: Buffer.from(bytes),
      }));
      for (const row of rows) {
        await db
          .insertInto('log_tiles')
          .values(row)
          .onConflict((conflict) =>
            conflict.columns(['tenant_id', 'level', 'tile']).doUpdateSet({ bytes: row.bytes }),
          )
          .execute();
      }
    },
  };
}

/** Marks records to be logged, in the transaction that writes them. */
export async function logLater(
  db: Database,
  tenantId: number,
  kind: PendingKind,
  ids: readonly string[],
): Promise<void> {
  await insertPending(
    db,
    ids.map((id) => ({ tenant_id: tenantId, kind, id })),
  );
}

const insertPending = bulkInsert('log_pending', ['tenant_id', 'kind', 'id'], (insert) =>
  insert.onConflict((conflict) => conflict.doNothing()),
);

/** Returns the tenants with records that wait to be logged. */
export async function tenantsToLog(db: Database): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from sessions where is_unlogged = 1 and log_arrival < last_arrival
    union select tenant_id from log_pending
  `.execute(db);
  return rows.map(({ tenant_id: tenantId }) => Number(tenantId));
}

/** Options for {@link readLogBatch}. */
export interface ReadLogBatchOptions {
  /** Reads only the events of this session. */
  readonly sessionId?: string;
  /** `lastRow` of a batch after which nothing of the tenant waited: later events are found in less time. */
  readonly afterRow?: number | undefined;
  /** Maximum arrivals of events, which bounds the memory for their rows. */
  readonly maxEvents?: number;
  /** Rows that need not be read. */
  readonly recent?: RecentEvents | undefined;
}

/** Limits of an append to a log, and its result. */
export type AppendOptions = Pick<ReadLogBatchOptions, 'afterRow' | 'maxEvents'>;

/** Records that were appended to a log at once. */
export interface Appended extends Pick<LogBatch, 'lastRow' | 'payloadBytes' | 'isAll'> {
  readonly entryCount: number;
}

/** Returns what a batch appends. */
export function appendedBy({ entries, lastRow, payloadBytes, isAll }: LogBatch): Appended {
  return { entryCount: entries.length, lastRow, payloadBytes, isAll };
}

/**
 * Reads some records that wait to be logged, and computes their entries.
 *
 * @returns `undefined` if none waits
 */
export async function readLogBatch(
  db: Database,
  tenantId: number,
  { sessionId, afterRow, maxEvents = defaultMaxEvents, recent }: ReadLogBatchOptions = {},
): Promise<LogBatch | undefined> {
  const { sessions, isAll } = await sessionsToLog(db, tenantId, maxEvents, sessionId);
  const pending = sessionId === undefined ? await readPending(db, tenantId) : [];
  if (sessions.length === 0 && pending.length === 0) return undefined;
  const batch = { entries: [] as Uint8Array[], ranges: [] as LogBatch['ranges'][number][] };
  const add = (record: LogRecord, id: string, arrival: number) => {
    const last = batch.ranges.at(-1);
    const isNext =
      last?.kind === 'event' && last.id === id && last.first_arrival + last.entry_count === arrival;
    const range =
      record.kind === 'event' && last && isNext
        ? { ...last, entry_count: last.entry_count + 1 }
        : { kind: record.kind, id, first_arrival: arrival, entry_count: 1, secret: newSecret() };
    if (range.entry_count > 1) batch.ranges.pop();
    batch.ranges.push(range);
    batch.entries.push(recordEntry(record, saltOf(range.secret, arrival)));
  };
  const lastRow = await newestRow(db);
  let payloadBytes = 0;
  for (const row of await eventsToLog(db, tenantId, sessions, { afterRow, recent })) {
    payloadBytes += row.payload.length;
    add(eventRecord(row), row.session_id, row.arrival);
  }
  for (const [kind, rows] of Map.groupBy(pending, (row) => row.kind)) {
    const ids = rows.map(({ id }) => id);
    const found = await findRecords(db, tenantId, kind, ids);
    for (const id of ids) {
      const record = found.get(id);
      if (record) add(record, id, 0);
    }
  }
  return {
    ...batch,
    sessions,
    pending,
    lastRow,
    payloadBytes,
    isAll: isAll && pending.length < maxLoggedOthers,
  };
}

function newSecret(): string {
  return randomBytes(saltBytes).toString('base64');
}

/**
 * Returns the salt of a record from the secret of its range. Salts of other records cannot be computed from it, so a
 * receipt says nothing about them.
 *
 * @param arrival - of an event in its session; 0 for other records
 */
export function saltOf(secret: string, arrival: number): Uint8Array {
  saltInput.fill(0);
  saltInput.write(secret, 0, saltBytes, 'base64');
  saltInput.writeUInt32BE(Math.floor(arrival / 2 ** 32), saltBytes);
  saltInput.writeUInt32BE(arrival % 2 ** 32, saltBytes + 4);
  // Node passes a string on in a third of the time that a buffer takes.
  return Buffer.from(hash('sha256', saltInput, 'binary').slice(0, saltBytes), 'latin1');
}

const saltInput = Buffer.alloc(saltBytes + 8);

async function sessionsToLog(
  db: Database,
  tenantId: number,
  maxEvents: number,
  sessionId: string | undefined,
): Promise<Pick<LogBatch, 'sessions' | 'isAll'>> {
  let query = db
    .selectFrom('sessions')
    .select(['id', 'log_arrival', 'last_arrival'])
    .where('tenant_id', '=', tenantId)
    .where('is_unlogged', '=', sql.lit(1))
    .whereRef('log_arrival', '<', 'last_arrival');
  if (sessionId !== undefined) query = query.where('id', '=', sessionId);
  const sessions: LogBatch['sessions'][number][] = [];
  let room = maxEvents;
  for (const row of await query.orderBy('id').limit(maxEvents).execute()) {
    const to = Math.min(row.last_arrival, row.log_arrival + room);
    sessions.push({ id: row.id, from: row.log_arrival, to });
    room -= to - row.log_arrival;
    if (room === 0) break;
  }
  return { sessions, isAll: room > 0 };
}

/** Returns the number of the newest row of events, in the order of insertion; `undefined` on PostgreSQL. */
async function newestRow(db: Database): Promise<number | undefined> {
  if (isPostgres(db)) return undefined;
  const { rows } = await sql<{ last: number | null }>`select max(rowid) as last from events`.execute(db);
  return rows[0]?.last ?? 0;
}

/** Returns the events of sessions that wait, from memory where all of a session are there. */
async function eventsToLog(
  db: Database,
  tenantId: number,
  sessions: LogBatch['sessions'],
  { afterRow, recent }: Pick<ReadLogBatchOptions, 'afterRow' | 'recent'>,
): Promise<Selectable<EventTable>[]> {
  if (!recent) return storedToLog(db, tenantId, sessions, afterRow);
  const found: Selectable<EventTable>[] = [];
  const others: LogBatch['sessions'][number][] = [];
  for (const session of sessions) {
    const rows = recent.take(tenantId, session);
    if (rows) found.push(...rows);
    else others.push(session);
  }
  return [...found, ...(await storedToLog(db, tenantId, others, afterRow))];
}

/**
 * Reads the events of sessions that wait. A long session's are found by its whole index, so they are looked for
 * among the newest rows first. Arrivals without a gap show that none is missing there; otherwise the index decides.
 */
async function storedToLog(
  db: Database,
  tenantId: number,
  sessions: LogBatch['sessions'],
  afterRow: number | undefined,
): Promise<Selectable<EventTable>[]> {
  if (afterRow === undefined || sessions.length === 0) return eventsBetween(db, tenantId, sessions);
  const { rows: newest } = await sql<Selectable<EventTable>>`
    select * from events not indexed where rowid > ${afterRow} and tenant_id = ${tenantId} limit ${2 * sessions.reduce((sum, { from, to }) => sum + to - from, 0)}
  `.execute(db);
  const bySession = Map.groupBy(newest, (row) => row.session_id);
  const found: Selectable<EventTable>[] = [];
  const others: LogBatch['sessions'][number][] = [];
  for (const session of sessions) {
    const { id, from, to } = session;
    const waiting = (bySession.get(id) ?? []).filter(({ arrival }) => arrival > from && arrival <= to);
    if (waiting.length === to - from) {
      found.push(...waiting.sort((left, right) => left.arrival - right.arrival));
    } else others.push(session);
  }
  return [...found, ...(await eventsBetween(db, tenantId, others))];
}

/** Returns the events of sessions within ranges of arrivals, in the order of sessions and arrivals. */
export async function eventsBetween(
  db: Database,
  tenantId: number,
  ranges: readonly ArrivalRange[],
): Promise<Selectable<EventTable>[]> {
  if (ranges.length === 0) return [];
  const { rows } = await sql<Selectable<EventTable>>`
    select events.* from ${between(db, tenantId, ranges, 'events')} order by events.session_id, events.arrival
  `.execute(db);
  return rows;
}

/** Returns the bytes of payloads of events within ranges of arrivals. Those of ordinary tool calls may be left out. */
export async function payloadBytesBetween(
  db: Database,
  tenantId: number,
  ranges: readonly ArrivalRange[],
): Promise<number> {
  // The view of PostgreSQL would put the payloads of tool calls together.
  const [table, payload] = isPostgres(db)
    ? (['event_rows', 'payload_json'] as const)
    : (['events', 'payload'] as const);
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(${sql.ref(payload)})), 0) as bytes from ${between(db, tenantId, ranges, table)}
  `.execute(db);
  return Number(rows[0]?.bytes);
}

function between(
  db: Database,
  tenantId: number,
  ranges: readonly ArrivalRange[],
  table: 'events' | 'event_rows',
): RawBuilder<unknown> {
  const json = JSON.stringify(ranges);
  const given = isPostgres(db)
    ? sql`select * from json_to_recordset(${json}::json) as ranges(id text, "from" bigint, "to" bigint)`
    : sql`select value ->> 'id' as id, value ->> 'from' as "from", value ->> 'to' as "to" from json_each(${json})`;
  return eventsOfRanges(db, tenantId, given, table);
}

function readPending(
  db: Database,
  tenantId: number,
): Promise<{ readonly kind: PendingKind; readonly id: string }[]> {
  return db
    .selectFrom('log_pending')
    .select(['kind', 'id'])
    .where('tenant_id', '=', tenantId)
    .orderBy('kind')
    .orderBy('id')
    .limit(maxLoggedOthers)
    .execute();
}

/**
 * Appends a batch to a tenant's log, in one transaction with the marks that its records are logged.
 *
 * @throws LoggedMeanwhile when another process has logged some of the records; the transaction must be rolled back
 */
export async function appendLogBatch(
  db: Database,
  tenantId: number,
  { entries, ranges, sessions, pending }: LogBatch,
): Promise<LogHead> {
  await lockLog(db, tenantId);
  if ((await advanceSessions(db, tenantId, sessions)) !== sessions.length) throw new LoggedMeanwhile();
  for (const [kind, rows] of Map.groupBy(pending, (row) => row.kind)) {
    const ids = rows.map(({ id }) => id);
    if ((await dropPending(db, tenantId, kind, ids)) !== ids.length) throw new LoggedMeanwhile();
  }
  const before = await logHead(db, tenantId);
  if (entries.length === 0) return before;
  const after = await appendEntries(tenantTiles(db, tenantId), before.size, entries);
  let next = before.size;
  const rows = ranges.map((range) => {
    const row = { ...range, tenant_id: tenantId, first_index: next };
    next += range.entry_count;
    return row;
  });
  await insertRanges(db, rows);
  const nowMs = Date.now();
  const head = { size: after.size, root: Buffer.from(after.root).toString('base64'), updated_ms: nowMs };
  await db
    .insertInto('log_times')
    .values({ tenant_id: tenantId, minute: Math.floor(nowMs / 60_000), first_index: before.size })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .insertInto('log_heads')
    .values({ tenant_id: tenantId, ...head })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet(head))
    .execute();
  return after;
}

const insertRanges = bulkInsert(
  'log_ranges',
  ['tenant_id', 'first_index', 'entry_count', 'kind', 'id', 'first_arrival', 'secret'],
  (insert) => insert,
);

/** Advances the logged arrivals of sessions that no other process has advanced. Returns their number. */
async function advanceSessions(
  db: Database,
  tenantId: number,
  sessions: LogBatch['sessions'],
): Promise<number> {
  if (sessions.length === 0) return 0;
  const json = JSON.stringify(sessions);
  // On PostgreSQL, sessions are locked in the order in which every transaction locks them. The unquoted names keep the
  // thread of an SQLite file from dropping its cached sessions, which do not have this column.
  const statement = isPostgres(db)
    ? sql`
      with given as materialized (
        select * from json_to_recordset(${json}::json) as given(id text, "from" bigint, "to" bigint)
      ), locked as materialized (
        select id from sessions where tenant_id = ${tenantId} and id = any(array(select id from given)) order by id for update
      )
      update sessions set log_arrival = given."to" from given join locked on locked.id = given.id
      where sessions.tenant_id = ${tenantId} and sessions.id = given.id and sessions.log_arrival = given."from"`
    : sql`
      update sessions set log_arrival = given.value ->> 'to' from json_each(${json}) as given
      where sessions.tenant_id = ${tenantId} and sessions.id = given.value ->> 'id'
        and sessions.log_arrival = given.value ->> 'from'`;
  const { numAffectedRows = 0n } = await statement.execute(db);
  return Number(numAffectedRows);
}

/** Appends waiting records of a kind, in the transaction that writes them, before all others that wait. */
export async function appendPending(db: Database, tenantId: number, kind: PendingKind): Promise<void> {
  await lockLog(db, tenantId);
  const pending = (await readPending(db, tenantId)).filter((row) => row.kind === kind);
  const ids = pending.map(({ id }) => id);
  const records = [...(await findRecords(db, tenantId, kind, ids)).values()];
  const ranges = records.map(({ id }) => ({
    kind,
    id,
    first_arrival: 0,
    entry_count: 1,
    secret: newSecret(),
  }));
  const entries = records.map((record, at) => recordEntry(record, saltOf(ranges[at]?.secret ?? '', 0)));
  await appendLogBatch(db, tenantId, {
    entries,
    ranges,
    sessions: [],
    pending,
    payloadBytes: 0,
    isAll: false,
  });
}

async function dropPending(
  db: Database,
  tenantId: number,
  kind: PendingKind,
  ids: readonly string[],
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('log_pending')
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', kind)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Ranges of entries of a log. */
export type EntryRanges = readonly (readonly [first: number, last: number])[];

/** Author of a deletion, and the rule that it follows. */
export type DeletionReason =
  /** With the reason of an erasure, which may be before the floor of the records. */
  | { readonly by: 'operator'; readonly erasure?: string }
  /** The retention of a tenant, in days, and the time before which it deletes. */
  | { readonly by: 'retention'; readonly days: number | null; readonly before: string };

/** Locks the log of a tenant until the transaction ends. Deletions and legal holds take this lock before any other. */
export function lockLog(db: Database, tenantId: number): Promise<void> {
  return lockNames(db, tenantId, [logLock]);
}

/**
 * Prepares the deletion of records: locks the log, and logs the events of sessions that wait. Must be called before any
 * row is locked.
 */
export async function beginDeletion(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[] = [],
): Promise<void> {
  await lockLog(db, tenantId);
  if (sessionIds.length === 0) return;
  const unlogged = await db
    .selectFrom('sessions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', JSON.stringify(sessionIds)))
    .whereRef('log_arrival', '<', 'last_arrival')
    .orderBy('id')
    .execute();
  let maxEvents = defaultMaxEvents;
  for (const { id: sessionId } of unlogged) {
    for (;;) {
      const batch = await readLogBatch(db, tenantId, { sessionId, maxEvents });
      if (!batch) break;
      await appendLogBatch(db, tenantId, batch);
      const isSmall = batch.payloadBytes <= batch.entries.length * smallEventBytes;
      maxEvents = isSmall ? maxLoggedEvents : defaultMaxEvents;
    }
  }
}

/**
 * Logs that records were deleted, in the transaction of the deletion, after {@link beginDeletion}. Their salts are
 * deleted, so that their entries say nothing about them any more.
 *
 * @param ids - of the records; for events, of their sessions
 * @param others - entries of records that are only outside the database
 */
export async function logDeletion(
  db: Database,
  tenantId: number,
  kind: RecordKind,
  ids: readonly string[],
  reason: DeletionReason,
  others: EntryRanges = [],
): Promise<void> {
  if (ids.length + others.length === 0) return;
  if (kind !== 'event') await dropPending(db, tenantId, kind, ids);
  const ranges = await db
    .deleteFrom('log_ranges')
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', kind)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .returning(['first_index', 'entry_count'])
    .execute();
  await recordDeletion(db, tenantId, {
    kind,
    reason,
    entries: mergedRanges([...ranges.map(entriesOf), ...others]),
    sessions: ids.length,
  });
}

/** Events of a session that is deleted in several transactions. */
export interface DroppedArrivals {
  readonly sessionId: string;
  /** Arrival of the last one. */
  readonly lastArrival: number;
  readonly reason: DeletionReason;
}

/**
 * Logs that some events of a session are deleted, the first by their arrival. The log must be locked.
 *
 * @param limit - maximum ranges of entries
 * @returns `true` if there can be more
 */
export async function logDroppedArrivals(
  db: Database,
  tenantId: number,
  { sessionId, lastArrival, reason }: DroppedArrivals,
  limit: number,
): Promise<boolean> {
  const waiting = db
    .selectFrom('log_ranges')
    .select('first_index')
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'event')
    .where('id', '=', sessionId)
    .where('first_arrival', '<=', lastArrival)
    .orderBy('first_arrival')
    .limit(limit);
  const ranges = await db
    .deleteFrom('log_ranges')
    .where('tenant_id', '=', tenantId)
    .where('first_index', 'in', waiting)
    .returning(['first_index', 'entry_count'])
    .execute();
  const hasMore = (await waiting.limit(1).executeTakeFirst()) !== undefined;
  await recordDeletion(db, tenantId, {
    kind: 'event',
    reason,
    entries: mergedRanges(ranges.map(entriesOf)),
    // The last record of the session counts it.
    sessions: hasMore ? 0 : 1,
  });
  return hasMore;
}

function entriesOf({
  first_index: first,
  entry_count: count,
}: Pick<Selectable<LogRangeTable>, 'first_index' | 'entry_count'>): EntryRanges[number] {
  return [Number(first), Number(first) + count - 1];
}

/** Adds a deletion to the list of deletions and to the log. */
async function recordDeletion(
  db: Database,
  tenantId: number,
  {
    kind,
    reason,
    entries,
    sessions,
  }: {
    readonly kind: RecordKind;
    readonly reason: DeletionReason;
    readonly entries: EntryRanges;
    readonly sessions: number;
  },
): Promise<void> {
  if (entries.length === 0) return;
  const deletedMs = Date.now();
  const id = newIdentifierAt('del', deletedMs);
  const row = {
    deletedAt: isoTime(deletedMs),
    ...reason,
    kind,
    ...(kind === 'event' && { sessions }),
    records: entries.reduce((sum, [first, last]) => sum + last - first + 1, 0),
    entries,
  };
  await db
    .insertInto('log_deletions')
    .values({ tenant_id: tenantId, id, record: JSON.stringify(row) })
    .execute();
  const record: LogRecord = { kind: 'deletion', id, row };
  const secret = newSecret();
  await appendLogBatch(db, tenantId, {
    entries: [recordEntry(record, saltOf(secret, 0))],
    ranges: [{ kind: 'deletion', id, first_arrival: 0, entry_count: 1, secret }],
    sessions: [],
    pending: [],
    payloadBytes: 0,
    isAll: true,
  });
}

/** Returns ranges in their order, as one if they overlap or follow each other. */
function mergedRanges(ranges: EntryRanges): EntryRanges {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}
