import type { Insertable, Selectable } from 'kysely';
import { findEventsById, insertEventsOnce } from '../postgres/event-ids.ts';
import { isPostgres } from '../postgres/is-postgres.ts';
import { bulkInsert } from '../queries/bulk-insert.ts';
import { oneOf } from '../queries/one-of.ts';
import { querySliceWithin, type Slice } from '../queries/slice.ts';
import type { EventTable } from '../schema.ts';
import type { Database } from '../transaction.ts';

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
