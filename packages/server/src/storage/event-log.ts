import type { Insertable, Selectable } from 'kysely';
import { bulkInsert } from './bulk-insert.ts';
import { oneOf } from './one-of.ts';
import { findEventsById, insertEventsOnce } from './postgres/event-ids.ts';
import { isPostgres } from './postgres/is-postgres.ts';
import type { EventTable } from './schema.ts';
import { type Slice, sliceWithin } from './slice.ts';
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
        .where(oneOf(db, 'event_id', JSON.stringify(eventIds)))
        .execute();
  return new Map(rows.map((row) => [row.event_id, row]));
}

/**
 * A slice of a session's events, oldest first; those that arrived after `lastArrival` are left out. There are fewer than
 * `limit` where they are large.
 */
export async function eventPage(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly sessionId: string;
    readonly after?: EventPosition | undefined;
    readonly lastArrival?: number;
    readonly limit: number;
    /** Bytes of payloads in it; 1 MiB when left out. */
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
  return sliceWithin(options.limit, 'payload', ordered, options.maxBytes);
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
