import { isDeepStrictEqual } from 'node:util';
import {
  type ActivityEvent,
  type CallerIdentity,
  decisionCategory,
  type SentOf,
  toolCallCategory,
} from '@actlog/protocol';
import type { Expression, Insertable, RawBuilder, Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import { isoTime } from '../../lib/iso-time.ts';
import { eventColumns, insertEventRows } from '../postgres/event-rows.ts';
import type { EventTable } from '../schema.ts';
import { querySliceWithin } from '../slices.ts';
import { bulkInsert, type Database, isPostgres, oneOf, preparedQuery } from '../transaction.ts';

/** Position of a page of events: it starts after this event. */
export interface EventPosition {
  readonly sourceMs: number;
  readonly eventId: string;
}

/** Returns the condition that events are of a session, by whose key the index of arrivals of PostgreSQL finds them. */
export function ofSession(db: Database, id: string): RawBuilder<SqlBool> {
  const key = isPostgres(db) ? sql`session_key = hashtext(${id}) and ` : sql``;
  return sql`${key}session_id = ${id}`;
}

/**
 * Returns the events of ranges of arrivals in sessions, to select from. PostgreSQL would read all events for many ranges if
 * it could join in another way.
 *
 * @param ranges - query with the columns `id` of the session, `from`, the arrival before the first, and `to`
 * @param conditions - further conditions on the events
 */
export function eventsOfRanges(
  db: Database,
  tenantId: number,
  ranges: RawBuilder<unknown>,
  table: 'events' | 'event_rows' = 'events',
  conditions: readonly RawBuilder<unknown>[] = [],
): RawBuilder<unknown> {
  const key = isPostgres(db) ? [sql`session_key = hashtext(part.id)`] : [];
  const ofPart = sql`session_id = part.id and arrival > part."from" and arrival <= part."to"`;
  const all = sql.join([sql`tenant_id = ${tenantId}`, ...key, ofPart, ...conditions], sql` and `);
  const from = sql.table(table);
  // `cross join` keeps SQLite from reading all events first.
  return isPostgres(db)
    ? sql`(${ranges}) as part cross join lateral (select * from ${from} where ${all} offset 0) as ${from}`
    : sql`(${ranges}) as part cross join ${from} indexed by events_by_session on ${all}`;
}

const insertUnlessKnown = bulkInsert('events', [...eventColumns, 'payload'], (insert) =>
  insert.onConflict((conflict) => conflict.doNothing()),
);

/** Inserts events, except those whose id the tenant already has. Returns the number inserted. */
export function insertEvents(db: Database, rows: readonly Insertable<EventTable>[]): Promise<number> {
  return isPostgres(db) ? insertEventRows(db, rows) : insertUnlessKnown(db, rows);
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Returns a condition that an event has one of the ids. Strings that are no ids match none. */
function hasOneOf(db: Database, eventIds: readonly string[]): Expression<SqlBool> {
  if (!isPostgres(db)) return oneOf(db, 'event_id', JSON.stringify(eventIds));
  return sql<SqlBool>`event_id = any(${eventIds.filter((id) => uuid.test(id))}::uuid[])`;
}

/**
 * Condition that an event is not one of a deleted session. A long session is deleted first, and its events in later
 * transactions.
 */
export const isKept = sql<SqlBool>`not exists (
  select 1 from dropped_sessions as dropped
  where dropped.tenant_id = events.tenant_id and dropped.session_id = events.session_id
    and dropped.last_arrival >= events.arrival
)`;

/**
 * Returns the arrivals after which sessions go on that start while events of a deleted one with their id are left, by
 * session.
 */
export async function droppedArrivals(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await arrivalsOfDropped(db, tenantId, JSON.stringify(sessionIds));
  return new Map(rows.map(({ session_id: id, last_arrival: arrival }) => [id, Number(arrival)]));
}

const arrivalsOfDropped = preparedQuery((db, tenantId: number, idsJson: string) =>
  db
    .selectFrom('dropped_sessions')
    .select(['session_id', 'last_arrival'])
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'session_id', idsJson)),
);

/**
 * Returns the stored events with these ids, by id.
 *
 * @param options.withDropped - also those of deleted sessions that have yet to be deleted. Default: `false`
 */
export async function findEvents(
  db: Database,
  tenantId: number,
  eventIds: readonly string[],
  { withDropped = false }: { readonly withDropped?: boolean } = {},
): Promise<Map<string, Selectable<EventTable>>> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where(hasOneOf(db, eventIds));
  if (!withDropped) query = query.where(isKept);
  const rows = await query.execute();
  return new Map(rows.map((row) => [row.event_id, row]));
}

/**
 * Returns a slice of a session's events, oldest first, without those that arrived after `lastArrival`. It has fewer
 * than `limit` events when they are large. `end` is the position of the next slice; `undefined` for the last one.
 */
export async function eventPage(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly sessionId: string;
    readonly after?: EventPosition | undefined;
    readonly lastArrival?: number;
    readonly limit: number;
    /** Maximum bytes of payloads in the slice. Default: 1 MiB. */
    readonly maxBytes?: number;
  },
): Promise<{ readonly rows: readonly Selectable<EventTable>[]; readonly end: EventPosition | undefined }> {
  const { after, lastArrival } = options;
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('tenant_id', '=', options.tenantId)
    .where('session_id', '=', options.sessionId)
    .where(isKept);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('source_ms', 'event_id'), '>', tuple(after.sourceMs, after.eventId)),
    );
  }
  if (lastArrival !== undefined) query = query.where('arrival', '<=', lastArrival);
  const ordered = query.orderBy('source_ms').orderBy('event_id');
  const { rows, hasMore } = await querySliceWithin(options.limit, ['payload'], ordered, options.maxBytes);
  const last = hasMore ? rows.at(-1) : undefined;
  return { rows, end: last && { sourceMs: last.source_ms, eventId: last.event_id } };
}

/** Returns the events of a session that arrived after `afterArrival` and up to `lastArrival`. */
export function eventsArrivedBetween(
  db: Database,
  tenantId: number,
  sessionId: string,
  afterArrival: number,
  lastArrival: number,
): Promise<Selectable<EventTable>[]> {
  return db
    .selectFrom('events')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where(ofSession(db, sessionId))
    .where('arrival', '>', afterArrival)
    .where('arrival', '<=', lastArrival)
    .where(isKept)
    .execute();
}

/** Outcome of a tool call, as the search names it. */
export type CallOutcome = 'ok' | 'error' | 'denied';

/** Status of a call that was denied, and so did not run. */
const deniedStatus = 403;

/** Returns the outcome of a tool call by its status. */
export function callOutcome(status: number): CallOutcome {
  if (status === deniedStatus) return 'denied';
  return status >= 400 ? 'error' : 'ok';
}

/**
 * Places within a millisecond. Few events share one, so a page needs to sort few; and from the year 0 to 9999 all places
 * are integers that JavaScript keeps.
 */
const placesPerMs = 32;

/** Returns the first place of the search at a time. */
export function firstPlaceAt(ms: number): number {
  return Math.floor(ms) * placesPerMs;
}

/** Returns 32 bits of a hash (FNV-1a) as a signed number, which both databases store in four bytes. */
export function searchKey(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** Returns the place of an event in the search. */
export function searchPlace(eventId: string, sourceMs: number): number {
  return firstPlaceAt(sourceMs) + (searchKey(eventId) >>> 27);
}

type SearchColumns = Pick<Selectable<EventTable>, 'place' | 'agent_key' | 'tool_key' | 'hash_key'>;

/** Returns the columns that the search finds an event by. */
function searchColumns(event: ActivityEvent, sourceMs: number, isIndexed: boolean): SearchColumns {
  const common = {
    place: searchPlace(event.eventId, sourceMs),
    agent_key: isIndexed ? searchKey(event.agentId) : null,
  };
  if (event.category !== toolCallCategory) return { ...common, tool_key: null, hash_key: null };
  const { toolName, argumentsHash } = event.payload as unknown as ToolCall;
  return { ...common, tool_key: searchKey(toolName), hash_key: searchKey(argumentsHash) };
}

/** Payload of a tool call. */
export interface ToolCall {
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly responseStatus: number;
}

/** Fields that the service adds to an event when it stores it. */
interface StoredEventFields {
  readonly tenantId: number;
  /** The event's `sourceTimestamp`, in Unix milliseconds. */
  readonly sourceMs: number;
  /** Number of the event in the order of arrival in its session. */
  readonly arrival: number;
  readonly receivedMs: number;
  /** Bits of the risk context from outside the session, such as a known tool or target. */
  readonly stamp: number;
  /** Verified identity of the sender, as JSON; `null` for none. */
  readonly identity: string | null;
  /** W3C `traceparent` of the call; `null` for none. */
  readonly traceparent: string | null;
  /** `false` if a history finds the event by agent, tool and hash, and not the database. Default: `true` */
  readonly isIndexed?: boolean;
}

/** Returns the row of an event. */
export function eventRow(
  event: ActivityEvent,
  {
    tenantId,
    sourceMs,
    arrival,
    receivedMs,
    stamp,
    identity,
    traceparent,
    isIndexed = true,
  }: StoredEventFields,
): Selectable<EventTable> {
  return {
    tenant_id: tenantId,
    session_id: event.sessionId,
    source_ms: sourceMs,
    event_id: event.eventId,
    arrival,
    agent_id: event.agentId,
    source_timestamp: event.sourceTimestamp,
    category: event.category,
    schema_version: event.schemaVersion,
    payload: JSON.stringify(event.payload),
    received_ms: receivedMs,
    stamp,
    identity,
    mark: eventMark(event),
    ...searchColumns(event, sourceMs, isIndexed),
    traceparent,
  };
}

/** `true` if a stored event has the same content as `event`. */
export function isSameEvent(row: Selectable<EventTable>, event: ActivityEvent): boolean {
  return (
    row.session_id === event.sessionId &&
    row.agent_id === event.agentId &&
    row.source_timestamp === event.sourceTimestamp &&
    row.category === event.category &&
    row.schema_version === event.schemaVersion &&
    isSamePayload(row.payload, JSON.stringify(event.payload))
  );
}

/** Compares payloads as JSON stores them (-0 becomes 0). The order of members does not count. */
function isSamePayload(stored: string, sent: string): boolean {
  return stored === sent || isDeepStrictEqual(JSON.parse(stored), JSON.parse(sent));
}

/** Columns of an event that the wire shows. */
type ShownEvent = Pick<
  Selectable<EventTable>,
  | Exclude<(typeof eventColumns)[number], 'tenant_id' | 'arrival' | 'stamp' | 'mark' | `${string}_key`>
  | 'payload'
>;

/** Returns the event's JSON on the wire. The payload keeps the bytes that were stored. */
export function storedEventJson(row: ShownEvent): string {
  return `${JSON.stringify(eventEnvelope(row)).slice(0, -1)},"payload":${row.payload}}`;
}

/** Returns the event as the wire shows it. */
export function storedEvent(row: ShownEvent): SentOf<'sessions.get'>['events'][number] {
  return { ...eventEnvelope(row), payload: JSON.parse(row.payload) as Record<string, unknown> };
}

/** Returns the fields of an event on the wire, without its payload. */
export function eventEnvelope(row: Omit<ShownEvent, 'payload'>) {
  return {
    eventId: row.event_id,
    agentId: row.agent_id,
    sessionId: row.session_id,
    sourceTimestamp: row.source_timestamp,
    category: row.category,
    schemaVersion: row.schema_version,
    receivedAt: isoTime(row.received_ms),
    ...(row.identity !== null && { identity: JSON.parse(row.identity) as CallerIdentity }),
    ...(row.traceparent !== null && { traceparent: row.traceparent }),
  };
}

/**
 * Reasons why an event stands out, as they are stored: a failed call, a call that was denied, a decision against an
 * action, and a held action. An event without one has 0.
 */
export const eventMarks = { error: 1, denied: 2, refused: 3, held: 4 } as const;

/** Returns the reason why an event stands out; 0 for none. */
function eventMark({ category, payload }: ActivityEvent): number {
  const { responseStatus, decision } = payload as { responseStatus?: unknown; decision?: unknown };
  if (category === toolCallCategory) {
    const outcome = callOutcome(responseStatus as number);
    return outcome === 'ok' ? 0 : eventMarks[outcome];
  }
  if (category !== decisionCategory) return 0;
  if (decision === 'deny' || decision === 'denied') return eventMarks.refused;
  return decision === 'require_approval' ? eventMarks.held : 0;
}

/** Equal parts of the time of a session. */
export interface TimeParts {
  readonly tenantId: number;
  readonly sessionId: string;
  readonly startMs: number;
  /** Length of a part, in milliseconds. */
  readonly lengthMs: number;
  readonly count: number;
}

/** Maximum events of one part, and marked events of one kind, that are counted. */
export const countedEvents = { perPart: 1000, perMark: 50_000 } as const;

/**
 * Returns the number of events in each part of a session's time, up to `countedEvents.perPart`. It reads index entries
 * only, and a bounded number of them for a session of any length.
 */
export async function eventCounts(
  db: Database,
  { tenantId, sessionId, startMs, lengthMs, count }: TimeParts,
): Promise<number[]> {
  const { rows } = await sql<{ events: number }>`
    with recursive part (n) as (select cast(0 as bigint) union all select n + 1 from part where n + 1 < ${sql.lit(count)})
    select (
      select count(*) from (
        select 1 as one from events
        where tenant_id = ${tenantId} and session_id = ${sessionId}
          and source_ms >= ${sql.lit(startMs)} + n * ${sql.lit(lengthMs)}
          and source_ms < ${sql.lit(startMs)} + (n + 1) * ${sql.lit(lengthMs)}
        limit ${sql.lit(countedEvents.perPart)}
      ) as found
    ) as events from part order by n
  `.execute(db);
  return rows.map(({ events }) => Number(events));
}

/**
 * Returns the event that is some events before a time in a session, with the number of events up to it; `undefined` if the
 * session has fewer. It reads index entries only.
 */
export async function eventBefore(
  db: Database,
  { tenantId, sessionId, startMs }: Pick<TimeParts, 'tenantId' | 'sessionId' | 'startMs'>,
  timeMs: number,
  distance: number,
): Promise<{ readonly position: EventPosition; readonly count: number } | undefined> {
  const earlier = db
    .selectFrom('events')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .where('source_ms', '>=', startMs)
    .where('source_ms', '<', timeMs);
  const found = await earlier
    .select(['source_ms', 'event_id'])
    .orderBy('source_ms', 'desc')
    .orderBy('event_id', 'desc')
    .offset(distance)
    .limit(1)
    .executeTakeFirst();
  if (!found) return undefined;
  const { events } = await earlier
    .select((eb) => eb.fn.countAll<number>().as('events'))
    .executeTakeFirstOrThrow();
  const position = { sourceMs: Number(found.source_ms), eventId: found.event_id };
  return { position, count: Number(events) - distance };
}

/** Number of marked events of one kind in one part of a session's time. */
export interface MarkCount {
  readonly part: number;
  readonly mark: number;
  readonly events: number;
}

/**
 * Returns how many events stand out in each part of a session's time, the first `countedEvents.perMark` of each kind. It
 * reads the index of marked events only.
 */
export async function markCounts(
  db: Database,
  { tenantId, sessionId, startMs, lengthMs }: TimeParts,
): Promise<MarkCount[]> {
  const kinds = Object.values(eventMarks).map(
    (mark) => sql`select * from (
      select source_ms, mark from events
      where tenant_id = ${tenantId} and session_id = ${sessionId} and mark = ${sql.lit(mark)} and mark <> 0
      order by source_ms limit ${sql.lit(countedEvents.perMark)}
    ) as kind`,
  );
  const { rows } = await sql<MarkCount>`
    select (source_ms - ${sql.lit(startMs)}) / ${sql.lit(lengthMs)} as part, mark, count(*) as events
    from (${sql.join(kinds, sql` union all `)}) as marked group by 1, 2
  `.execute(db);
  return rows.map(({ part, mark, events }) => ({ part: Number(part), mark, events: Number(events) }));
}

/** Returns the ids of the first events of a session with a mark, oldest first. */
export async function firstMarked(
  db: Database,
  tenantId: number,
  sessionId: string,
  mark: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('events')
    .select('event_id')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .where('mark', '=', sql.lit(mark))
    .where('mark', '<>', sql.lit(0))
    .orderBy('source_ms')
    .limit(limit)
    .execute();
  return rows.map(({ event_id: id }) => id);
}

/** Returns the times of events by id, in Unix milliseconds, without reading their payloads. */
export async function eventTimes(
  db: Database,
  tenantId: number,
  eventIds: readonly string[],
): Promise<Map<string, number>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('events')
    .select(['event_id', 'source_ms'])
    .where('tenant_id', '=', tenantId)
    .where(hasOneOf(db, eventIds))
    .execute();
  return new Map(rows.map(({ event_id: id, source_ms: ms }) => [id, Number(ms)]));
}

/** Arrivals of a session. */
export interface ArrivalRange {
  readonly id: string;
  /** Arrival before the first. */
  readonly from: number;
  /** Last arrival. */
  readonly to: number;
}

/** Maximum bytes of payloads that wait in memory, and what a row takes beside its payload. */
const maxRecentBytes = 8 * 1024 * 1024;
const rowBytes = 512;

/**
 * Rows of the events that the only writer of a database has just committed, so that their entries need no read. Its user
 * must clear it after a failed commit, and after every other write of events or sessions.
 */
export class RecentEvents {
  readonly #sessions = new Map<string, Selectable<EventTable>[]>();
  #bytes = 0;

  /** Adds an event that is about to be committed; none while so many wait that the log is behind. */
  add(row: Selectable<EventTable>): void {
    const bytes = row.payload.length + rowBytes;
    if (this.#bytes + bytes > maxRecentBytes) return;
    this.#bytes += bytes;
    const key = `${row.tenant_id} ${row.session_id}`;
    const rows = this.#sessions.get(key);
    if (rows) rows.push(row);
    else this.#sessions.set(key, [row]);
  }

  /**
   * Removes the events of a session up to an arrival, and returns those after the first one; `undefined` if some are
   * missing.
   */
  take(tenantId: number, { id, from, to }: ArrivalRange): Selectable<EventTable>[] | undefined {
    const key = `${tenantId} ${id}`;
    const rows = this.#sessions.get(key);
    if (!rows) return undefined;
    const later = rows.filter(({ arrival }) => arrival > to);
    if (later.length > 0) this.#sessions.set(key, later);
    else this.#sessions.delete(key);
    const found = rows.filter(({ arrival }) => arrival > from && arrival <= to);
    for (const { arrival, payload } of rows) if (arrival <= to) this.#bytes -= payload.length + rowBytes;
    return found.length === to - from ? found : undefined;
  }

  clear(): void {
    this.#sessions.clear();
    this.#bytes = 0;
  }
}
