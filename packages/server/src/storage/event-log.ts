import { isDeepStrictEqual } from 'node:util';
import type { ActivityEvent, SentOf } from '@actlog/protocol';
import type { Insertable, Selectable } from 'kysely';
import { bulkInsert } from './bulk-insert.ts';
import { oneOf } from './one-of.ts';
import { findEventsById, insertEventsOnce } from './postgres/event-ids.ts';
import { isPostgres } from './postgres/is-postgres.ts';
import type { EventTable, Tables } from './schema.ts';
import type { Database } from './transaction.ts';

/** Where a page of events goes on: behind this event. */
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
  ],
  (insert) => insert.onConflict((conflict) => conflict.doNothing()),
);

/** Writes events; one whose id the tenant already has is left out. Returns how many were written. */
export function insertEvents(db: Database, rows: readonly Insertable<EventTable>[]): Promise<number> {
  return isPostgres(db) ? insertEventsOnce(db, rows) : insertUnlessKnown(db, rows);
}

/** The stored events of these ids. */
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
        .where(oneOf(db, 'event_id', eventIds))
        .execute();
  return new Map(rows.map((row) => [row.event_id, row]));
}

/** Whether a stored event has the content of this one. */
export function isSameEvent(row: Selectable<EventTable>, event: ActivityEvent): boolean {
  return (
    row.session_id === event.sessionId &&
    row.agent_id === event.agentId &&
    row.source_timestamp === event.sourceTimestamp &&
    row.category === event.category &&
    row.schema_version === event.schemaVersion &&
    isDeepStrictEqual(JSON.parse(row.payload), event.payload)
  );
}

/** A page of a session's events, oldest first; those that arrived after `lastArrival` are left out. */
export async function eventPage(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly sessionId: string;
    readonly after?: EventPosition | undefined;
    readonly lastArrival?: number;
    readonly limit: number;
  },
): Promise<Selectable<Tables['events']>[]> {
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
  return query.orderBy('source_ms').orderBy('event_id').limit(options.limit).execute();
}

/** Events of a session that arrived after one and up to another, in the order of the session. */
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

/** The event as the wire shows it, in JSON. The payload goes out as it came in. */
export function storedEventJson(row: Selectable<EventTable>): string {
  return `${JSON.stringify(envelope(row)).slice(0, -1)},"payload":${row.payload}}`;
}

/** The event as the wire shows it. */
export function storedEvent(row: Selectable<EventTable>): SentOf<'sessions.get'>['events'][number] {
  return { ...envelope(row), payload: JSON.parse(row.payload) as Record<string, unknown> };
}

function envelope(row: Selectable<EventTable>) {
  return {
    eventId: row.event_id,
    agentId: row.agent_id,
    sessionId: row.session_id,
    sourceTimestamp: row.source_timestamp,
    category: row.category,
    schemaVersion: row.schema_version,
    receivedAt: new Date(row.received_ms).toISOString(),
  };
}
