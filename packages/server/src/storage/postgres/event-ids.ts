import { type Insertable, type Selectable, sql } from 'kysely';
import { rowsOf } from '../queries.ts';
import type { EventTable } from '../schema.ts';
import type { Database } from '../transaction.ts';

/**
 * Inserts events whose ids are new to the tenant, in one statement: first the ids, which determines what is new, then
 * the events. The statement waits for a transaction that inserts the same id at the same time. Ids are inserted in one
 * order, so two such transactions cannot deadlock.
 *
 * @returns the number of events inserted.
 */
export async function insertEventsOnce(
  db: Database,
  rows: readonly Insertable<EventTable>[],
): Promise<number> {
  if (rows.length === 0) return 0;
  // The sort is stable: of two equal ids in one write, the first counts.
  const sorted = [...rows].sort(compareIds);
  const { numAffectedRows } = await sql`
    with given as materialized (
      select * from ${rowsOf('events', sorted)}
    ), fresh as (
      insert into event_ids (tenant_id, event_id, session_id, arrival, received_ms)
      select tenant_id, event_id, session_id, arrival, received_ms from given
      on conflict do nothing
      returning tenant_id, event_id, session_id, arrival
    )
    insert into events select given.* from given
    join fresh using (tenant_id, event_id, session_id, arrival)
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

function compareIds(left: { event_id: string }, right: { event_id: string }): number {
  if (left.event_id === right.event_id) return 0;
  return left.event_id < right.event_id ? -1 : 1;
}

/** Returns the stored events with these ids. */
export function findEventsById(
  db: Database,
  tenantId: number,
  eventIds: readonly string[],
): Promise<Selectable<EventTable>[]> {
  return byIds(db, tenantId, eventIds).selectAll('events').execute();
}

/** Returns the ids and times of the stored events with these ids. */
export function findEventTimes(
  db: Database,
  tenantId: number,
  eventIds: readonly string[],
): Promise<Pick<Selectable<EventTable>, 'event_id' | 'source_ms'>[]> {
  return byIds(db, tenantId, eventIds).select(['events.event_id', 'events.source_ms']).execute();
}

function byIds(db: Database, tenantId: number, eventIds: readonly string[]) {
  return db
    .selectFrom('event_ids')
    .innerJoin('events', (join) =>
      join
        .onRef('events.tenant_id', '=', 'event_ids.tenant_id')
        .onRef('events.session_id', '=', 'event_ids.session_id')
        .onRef('events.arrival', '=', 'event_ids.arrival')
        .onRef('events.received_ms', '=', 'event_ids.received_ms'),
    )
    .where('event_ids.tenant_id', '=', tenantId)
    .where('events.tenant_id', '=', tenantId)
    .where(sql<boolean>`event_ids.event_id = any(${[...eventIds]}::text[])`);
}

/** Events that one statement deletes. Deleting a long session at once could exceed the statement timeout. */
const droppedAtOnce = 20_000;

/** Deletes the events of a session up to `lastArrival`, together with their ids. */
export async function dropEventsWithIds(
  db: Database,
  tenantId: number,
  sessionId: string,
  lastArrival: number,
): Promise<void> {
  for (let after = 0; after < lastArrival; after += droppedAtOnce) {
    await sql`
      with dropped as (
        delete from events
        where tenant_id = ${tenantId} and session_id = ${sessionId}
          and arrival > ${after} and arrival <= ${after + droppedAtOnce}
        returning tenant_id, event_id
      )
      delete from event_ids using dropped
      where event_ids.tenant_id = dropped.tenant_id and event_ids.event_id = dropped.event_id
    `.execute(db);
  }
}
