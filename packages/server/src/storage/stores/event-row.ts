import { isDeepStrictEqual } from 'node:util';
import type { ActivityEvent, SentOf } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { isoTime } from '../../lib/iso-time.ts';
import type { EventTable } from '../schema.ts';

/** Fields that the service adds to an event when it stores it. */
export interface StoredEventFields {
  readonly tenantId: number;
  /** The event's `sourceTimestamp`, in Unix milliseconds. */
  readonly sourceMs: number;
  /** Number of the event in the order of arrival in its session. */
  readonly arrival: number;
  readonly receivedMs: number;
  /** Bits of the risk context from outside the session, such as a known tool or target. */
  readonly stamp: number;
}

/** Returns the row of an event. */
export function eventRow(
  event: ActivityEvent,
  { tenantId, sourceMs, arrival, receivedMs, stamp }: StoredEventFields,
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
  return `${JSON.stringify(envelope(row)).slice(0, -1)},"payload":${row.payload}}`;
}

/** Returns the event as the wire shows it. */
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
