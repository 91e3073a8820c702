import { type Insertable, sql } from 'kysely';
import { isoTime } from '../../lib/iso-time.ts';
import type { EventRowTable, EventTable } from '../schema.ts';
import { bulkInsert, type Database, oneOf } from '../transaction.ts';

/** Columns of events that both databases have. */
export const eventColumns = [
  'source_ms',
  'arrival',
  'received_ms',
  'place',
  'tenant_id',
  'stamp',
  'agent_key',
  'tool_key',
  'hash_key',
  'mark',
  'event_id',
  'session_id',
  'agent_id',
  'category',
  'schema_version',
  'source_timestamp',
  'identity',
  'traceparent',
] as const;

const insertRows = bulkInsert(
  'event_rows',
  [...eventColumns, 'response_status', 'tool_name', 'arguments_hash', 'payload_json'],
  (insert) => insert.onConflict((conflict) => conflict.columns(['tenant_id', 'event_id']).doNothing()),
);

/**
 * Inserts events whose ids are new to the tenant. The statement waits for a transaction that inserts the same id at the
 * same time. Ids are inserted in one order, so two such transactions cannot deadlock.
 *
 * @returns the number of events inserted.
 */
export function insertEventRows(db: Database, events: readonly Insertable<EventTable>[]): Promise<number> {
  // The sort is stable: of two equal ids in one write, the first counts.
  return insertRows(db, [...events].sort(compareIds).map(eventRowOf));
}

function compareIds(left: { event_id: string }, right: { event_id: string }): number {
  if (left.event_id === right.event_id) return 0;
  return left.event_id < right.event_id ? -1 : 1;
}

/** Payload of a tool call whose parts the view of the events puts together to the same text. */
const ordinaryCall =
  /^\{"toolName":"([ !#-[\]-~]*)","argumentsHash":"sha256:([0-9a-f]{64})","responseStatus":(0|[1-9]\d{0,3})\}$/;

/** Times that the view of the events writes exactly, in Unix milliseconds: its microseconds are safe integers. */
const ordinaryTimes = { from: 0, to: Date.UTC(2200, 0) };

/** Returns the row that the view of the events shows as an event. */
export function eventRowOf({
  payload,
  source_timestamp: time,
  ...row
}: Insertable<EventTable>): Insertable<EventRowTable> {
  const isOrdinaryTime =
    row.source_ms >= ordinaryTimes.from &&
    row.source_ms < ordinaryTimes.to &&
    time === isoTime(row.source_ms);
  const [, toolName = null, hash, status] = ordinaryCall.exec(payload) ?? [];
  return {
    ...row,
    source_timestamp: isOrdinaryTime ? null : time,
    tool_name: toolName,
    arguments_hash: hash === undefined ? null : `\\x${hash}`,
    response_status: status === undefined ? null : Number(status),
    payload_json: toolName === null ? payload : null,
  };
}

/** Events that one statement deletes. Deleting a long session at once could exceed the statement timeout. */
const droppedAtOnce = 20_000;

/** Deletes the events of sessions. */
export async function dropEventRows(
  db: Database,
  tenantId: number,
  sessions: readonly { readonly id: string; readonly last_arrival: number }[],
): Promise<void> {
  const last = Math.max(...sessions.map(({ last_arrival: arrival }) => arrival));
  for (let after = 0; after < last; after += droppedAtOnce) {
    const left = sessions.filter(({ last_arrival: arrival }) => arrival > after).map(({ id }) => id);
    await sql`
      delete from event_rows
      where tenant_id = ${tenantId} and ${oneOf(db, 'session_id', JSON.stringify(left))}
        and session_key = any(array(select hashtext(id) from unnest(${left}::text[]) as id))
        and arrival > ${after} and arrival <= ${after + droppedAtOnce}
    `.execute(db);
  }
}
