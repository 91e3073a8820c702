import { isDeepStrictEqual } from 'node:util';
import type { ActivityEvent, SentOf } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { isoTime } from '../iso-time.ts';
import type { EventTable } from './schema.ts';

/** What the service adds to an event that it stores. */
export interface Arrived {
  readonly tenantId: number;
  /** Its `sourceTimestamp`, in milliseconds since the epoch. */
  readonly sourceMs: number;
  /** The number of the event in the order of arrival in its session. */
  readonly arrival: number;
  readonly receivedMs: number;
  /** What the risk engine saw beyond the session. */
  readonly stamp: number;
}

/** An event as its row holds it. */
export function eventRow(
  event: ActivityEvent,
  { tenantId, sourceMs, arrival, receivedMs, stamp }: Arrived,
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
  };
}

/** Whether a stored event has the content of this one. */
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

/** A row keeps what JSON makes of a payload, such as 0 of -0. The order of members does not count. */
function isSamePayload(stored: string, sent: string): boolean {
  return stored === sent || isDeepStrictEqual(JSON.parse(stored), JSON.parse(sent));
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
    receivedAt: isoTime(row.received_ms),
  };
}
