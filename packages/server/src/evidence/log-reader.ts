import { createReceipt, inclusionProof, type LogRecord, type Receipt, type RecordKind } from '@actlog/log';
import { stringifyExactJson } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { eventRecord, findRecords, type PendingKind } from '../storage/log/log-records.ts';
import {
  eventsBetween,
  logHead,
  maxLoggedEvents,
  payloadBytesBetween,
  saltOf,
  tenantTiles,
} from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import { type ArrivalRange, findEvents } from '../storage/stores/event-log.ts';
import type { LogRangeTable } from '../storage/tables.ts';
import type { Database } from '../storage/transaction.ts';
import type { SignedHead } from './log-witnesses.ts';

/** Number of entries that are read at once, however large they are. Their rows are in memory together. */
const entriesAtOnce = 64;

/** Bytes of payloads above which a page has fewer entries than requested, but at least {@link entriesAtOnce}. */
const maxPageBytes = 4 * 1024 * 1024;

/** A record with what is needed to compute its entry. */
interface LoggedRecord {
  readonly index: number;
  readonly record: LogRecord;
  /** Secret of its range, and its arrival: see {@link saltOf}. */
  readonly secret: string;
  readonly arrival: number;
}

/** Options for {@link readFeed}. */
export interface FeedOptions {
  readonly storage: Pick<Storage, 'read'>;
  readonly tenantId: number;
  /** Index of the entry before the first. */
  readonly after: number;
  /** Maximum number of records. */
  readonly limit: number;
  /** Kinds of records to leave out. */
  readonly leftOut: ReadonlySet<RecordKind>;
  /** With it, each record has its receipt, and records after it are left out. */
  readonly head: SignedHead | undefined;
  readonly signal: AbortSignal;
}

/** Yields the records of a log in its order, as lines of JSON. Deleted records are left out. */
export async function* readFeed(options: FeedOptions): AsyncGenerator<string> {
  const { storage, tenantId, limit, leftOut, head, signal } = options;
  let { after } = options;
  let left = limit;
  while (left > 0 && !signal.aborted) {
    const page = await storage.read(tenantId, async (db) => {
      const size = head?.size ?? (await logHead(db, tenantId)).size;
      const entries = await rangesAfter(db, tenantId, after, size);
      const records = (await recordsOf(db, tenantId, entries))
        .filter(({ record }) => !leftOut.has(record.kind))
        .slice(0, left);
      const lines = [];
      for (const record of records) lines.push(await lineOf(db, tenantId, record, head));
      return { lines, last: entries.at(-1) };
    });
    if (!page.last) return;
    left -= page.lines.length;
    after = page.last.first_index + page.last.entry_count - 1;
    if (page.lines.length > 0) yield page.lines.join('');
  }
}

/** Some consecutive records of a log. */
export interface LogPage {
  readonly records: readonly { readonly index: number; readonly record: LogRecord }[];
  /** Index of the last entry of the page, whose record may be deleted; `undefined` if there is no entry. */
  readonly last: number | undefined;
}

/**
 * Returns the records after an index, a page of the feed. Deleted records are left out.
 *
 * @param limit - maximum entries, of which large ones make the page shorter
 */
export async function readLogPage(
  db: Database,
  tenantId: number,
  after: number,
  limit: number = entriesAtOnce,
): Promise<LogPage> {
  const { size } = await logHead(db, tenantId);
  const ranges = await withinBytes(db, tenantId, await rangesAfter(db, tenantId, after, size, limit));
  const last = ranges.at(-1);
  return {
    records: await recordsOf(db, tenantId, ranges),
    // Behind the last range are only entries of deleted records.
    last: last ? last.first_index + last.entry_count - 1 : size > after + 1 ? size - 1 : undefined,
  };
}

type Range = Selectable<LogRangeTable>;

/** Returns ranges cut to about {@link maxPageBytes} of payloads. */
async function withinBytes(db: Database, tenantId: number, ranges: Range[]): Promise<Range[]> {
  const count = ranges.reduce((sum, range) => sum + range.entry_count, 0);
  if (count <= entriesAtOnce) return ranges;
  const bytes = await payloadBytesBetween(db, tenantId, arrivalsOf(ranges));
  if (bytes <= maxPageBytes) return ranges;
  return firstEntries(ranges, Math.max(entriesAtOnce, Math.floor((count * maxPageBytes) / bytes)));
}

/** Returns ranges of the entries after an index, cut to at most `limit` entries. */
async function rangesAfter(
  db: Database,
  tenantId: number,
  after: number,
  size: number,
  limit: number = entriesAtOnce,
): Promise<Range[]> {
  const rows = await db
    .selectFrom('log_ranges')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    // A range that begins before the index can have entries after it.
    .where('first_index', '>', after - maxLoggedEvents)
    .where('first_index', '<', size)
    .where(({ eb }) => eb(eb('first_index', '+', eb.ref('entry_count')), '>', after + 1))
    .orderBy('first_index')
    .limit(limit)
    .execute();
  const ranges = rows.map((row) => {
    const skipped = Math.max(0, after + 1 - row.first_index);
    return {
      ...row,
      first_index: row.first_index + skipped,
      first_arrival: row.first_arrival + skipped,
      entry_count: Math.min(row.entry_count - skipped, size - row.first_index - skipped),
    };
  });
  return firstEntries(ranges, limit);
}

/** Returns ranges cut to at most `limit` entries. */
function firstEntries(ranges: readonly Range[], limit: number): Range[] {
  const first: Range[] = [];
  let room = limit;
  for (const range of ranges) {
    if (room === 0) break;
    const count = Math.min(range.entry_count, room);
    first.push({ ...range, entry_count: count });
    room -= count;
  }
  return first;
}

/**
 * Returns the arrivals of events in ranges, by session. A session's events are logged in their order, so they are one range
 * each, and SQLite reads the index of a long session once.
 */
function arrivalsOf(ranges: readonly Range[]): ArrivalRange[] {
  const bySession = new Map<string, ArrivalRange>();
  for (const { kind, id, first_arrival: first, entry_count: count } of ranges) {
    if (kind !== 'event') continue;
    const known = bySession.get(id);
    const to = Math.max(first + count - 1, known?.to ?? 0);
    bySession.set(id, { id, from: Math.min(first - 1, known?.from ?? first), to });
  }
  return [...bySession.values()];
}

/** Returns the records of ranges that exist, in the order of the log. */
async function recordsOf(db: Database, tenantId: number, ranges: readonly Range[]): Promise<LoggedRecord[]> {
  const found: LoggedRecord[] = [];
  const ofEvents = ranges.filter(({ kind }) => kind === 'event');
  const bySession = Map.groupBy(ofEvents, ({ id }) => id);
  for (const row of await eventsBetween(db, tenantId, arrivalsOf(ranges))) {
    const range = bySession
      .get(row.session_id)
      ?.find(
        ({ first_arrival: first, entry_count: count }) => row.arrival >= first && row.arrival < first + count,
      );
    if (!range) continue;
    const index = range.first_index + row.arrival - range.first_arrival;
    found.push({ index, record: eventRecord(row), secret: range.secret, arrival: row.arrival });
  }
  const others = ranges.filter(({ kind }) => kind !== 'event');
  for (const [kind, ofKind] of Map.groupBy(others, (range) => range.kind as PendingKind)) {
    const records = await findRecords(
      db,
      tenantId,
      kind,
      ofKind.map(({ id }) => id),
    );
    for (const { id, first_index: index, secret } of ofKind) {
      const record = records.get(id);
      if (record) found.push({ index, record, secret, arrival: 0 });
    }
  }
  return found.sort((left, right) => left.index - right.index);
}

async function lineOf(
  db: Database,
  tenantId: number,
  logged: LoggedRecord,
  head: SignedHead | undefined,
): Promise<string> {
  const { index, record } = logged;
  const { kind, id, row } = record;
  const salt = saltOf(logged.secret, logged.arrival);
  const proven = head ? await prove(db, tenantId, logged, head) : undefined;
  const line = { index, kind, id, salt: Buffer.from(salt).toString('base64'), row, proof: proven?.proof };
  return `${stringifyExactJson(line)}\n`;
}

async function prove(
  db: Database,
  tenantId: number,
  { index, record, secret, arrival }: LoggedRecord,
  { size, checkpoint }: SignedHead,
): Promise<Receipt> {
  const hashes = await inclusionProof(tenantTiles(db, tenantId), index, size);
  return createReceipt(record, saltOf(secret, arrival), { index, hashes, checkpoint });
}

/** A record with its receipt. */
export interface ProvenRecord extends Receipt {
  readonly index: number;
  readonly row: unknown;
}

/**
 * Returns a record with its receipt; `undefined` if there is no such record, or if the log of the checkpoint does not have it yet.
 *
 * @param id - of the record; for an event, its `eventId`
 */
export async function readReceipt(
  db: Database,
  tenantId: number,
  { kind, id }: Pick<LogRecord, 'kind' | 'id'>,
  head: SignedHead,
): Promise<ProvenRecord | undefined> {
  const event = kind === 'event' ? (await findEvents(db, tenantId, [id])).get(id) : undefined;
  if (kind === 'event' && !event) return undefined;
  const range = await db
    .selectFrom('log_ranges')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', event?.session_id ?? id)
    .where('kind', '=', kind)
    .where('first_arrival', '<=', event?.arrival ?? 0)
    .orderBy('first_arrival', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!range) return undefined;
  const logged = (await recordsOf(db, tenantId, [range])).find(({ record }) => record.id === id);
  if (!logged || logged.index >= head.size) return undefined;
  const receipt = await prove(db, tenantId, logged, head);
  return { index: logged.index, ...receipt, row: logged.record.row };
}

/** Returns the records after an index with their receipts, a page of the log. Deleted records are left out. */
export async function readProven(
  db: Database,
  tenantId: number,
  after: number,
  head: SignedHead,
): Promise<{ readonly records: readonly ProvenRecord[]; readonly last: number | undefined }> {
  const ranges = await rangesAfter(db, tenantId, after, head.size);
  const records: ProvenRecord[] = [];
  for (const logged of await recordsOf(db, tenantId, ranges)) {
    const receipt = await prove(db, tenantId, logged, head);
    records.push({ index: logged.index, ...receipt, row: logged.record.row });
  }
  const last = ranges.at(-1);
  return { records, last: last && last.first_index + last.entry_count - 1 };
}

/** Returns the index of the newest record before an index; `undefined` if there is none. */
export async function recordBefore(
  db: Database,
  tenantId: number,
  index: number,
): Promise<number | undefined> {
  const last = await db
    .selectFrom('log_ranges')
    .select(['first_index', 'entry_count'])
    .where('tenant_id', '=', tenantId)
    .where('first_index', '<', index)
    .orderBy('first_index', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last && Math.min(index, last.first_index + last.entry_count) - 1;
}
