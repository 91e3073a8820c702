import type { ActivityEvent } from '@actlog/protocol';
import type { RiskEvent } from '@actlog/risk';
import type { Selectable } from 'kysely';
import type { EventTable } from '../storage/schema.ts';

/** An event as the risk engine reads it. */
export function riskEvent(event: ActivityEvent): RiskEvent {
  const payload = event.payload as Record<string, unknown>;
  return {
    eventId: event.eventId,
    agentId: event.agentId,
    sessionId: event.sessionId,
    timestampMs: Date.parse(event.sourceTimestamp),
    category: event.category,
    schemaVersion: event.schemaVersion,
    payload,
    ...(typeof payload.toolName === 'string' && { toolName: payload.toolName }),
    ...(typeof payload.argumentsHash === 'string' && { argumentsHash: payload.argumentsHash }),
    ...(typeof payload.responseStatus === 'number' && { responseStatus: payload.responseStatus }),
  };
}

/** A stored event as the risk engine reads it. */
export function storedRiskEvent(row: Selectable<EventTable>): RiskEvent {
  return riskEvent({
    eventId: row.event_id,
    agentId: row.agent_id,
    sessionId: row.session_id,
    sourceTimestamp: row.source_timestamp,
    category: row.category,
    schemaVersion: row.schema_version,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
  });
}
