import { isDeepStrictEqual } from 'node:util';
import type { ActivityEvent, CallerIdentity, SentOf } from '@actlog/protocol';
import type { Insertable, Selectable } from 'kysely';
import { isoTime } from '../../lib/iso-time.ts';
import { findEventsById, insertEventsOnce } from '../postgres/event-ids.ts';
import { bulkInsert, oneOf, querySliceWithin, type Slice } from '../queries.ts';
import type { EventTable } from '../schema.ts';
import { type Database, isPostgres } from '../transaction.ts';

/** Position of a page of events: it starts after this event. */
export interface EventPosition {
  readonly sourceMs: number;
  readonly eventId: string;
}

const insertUnlessKnown = bulkInsert(
  'events',
  [
    'tenant_id',
    'session_id',
    'source_ms',
    'event_id',
    'arrival',
    'agent_id',
    'source_timestamp',
    'category',
    'schema_version',
    'payload',
    'received_ms',
    'stamp',
    'identity',
    'traceparent',
  ],
  (insert) => insert.onConflict((conflict) => conflict.doNothing()),
);

/** Inserts events, except those whose id the tenant already has. Returns the number inserted. */
export function insertEvents(db: Database, rows: readonly Insertable<EventTable>[]): Promise<number> {
  return isPostgres(db) ? insertEventsOnce(db, rows) : insertUnlessKnown(db, rows);
}

/** Returns the stored events with these ids, by id. */
export async function findEvents(
  db: Database,
  tenantId: number,
  eventIds: readonly string[],
): Promise<Map<string, Selectable<EventTable>>> {
  const rows = isPostgres(db)
    ? await findEventsById(db, tenantId, eventIds)
    : await db
        .selectFrom('events')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .where(oneOf(db, 'event_id', JSON.stringify(eventIds)))
        .execute();
  return new Map(rows.map((row) => [row.event_id, row]));
}

/**
 * Returns a slice of a session's events, oldest first, without those that arrived after `lastArrival`. It has fewer
 * than `limit` events when they are large.
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
): Promise<Slice<Selectable<EventTable>>> {
  const { after, lastArrival } = options;
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('tenant_id', '=', options.tenantId)
    .where('session_id', '=', options.sessionId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('source_ms', 'event_id'), '>', tuple(after.sourceMs, after.eventId)),
    );
  }
  if (lastArrival !== undefined) query = query.where('arrival', '<=', lastArrival);
  const ordered = query.orderBy('source_ms').orderBy('event_id');
  return querySliceWithin(options.limit, ['payload'], ordered, options.maxBytes);
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
    .where('session_id', '=', sessionId)
    .where('arrival', '>', afterArrival)
    .where('arrival', '<=', lastArrival)
    .execute();
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
}

/** Returns the row of an event. */
export function eventRow(
  event: ActivityEvent,
  { tenantId, sourceMs, arrival, receivedMs, stamp, identity, traceparent }: StoredEventFields,
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

/** Returns the event's JSON on the wire. The payload keeps the bytes that were stored. */
export function storedEventJson(row: Selectable<EventTable>): string {
  return `${JSON.stringify(eventEnvelope(row)).slice(0, -1)},"payload":${row.payload}}`;
}

/** Returns the event as the wire shows it. */
export function storedEvent(row: Selectable<EventTable>): SentOf<'sessions.get'>['events'][number] {
  return { ...eventEnvelope(row), payload: JSON.parse(row.payload) as Record<string, unknown> };
}

/** Returns the fields of an event on the wire, without its payload. */
export function eventEnvelope(row: Selectable<EventTable>) {
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
