import { type RiskEvent, riskEvent } from '@actlog/risk';
import type { Selectable } from 'kysely';
import type { EventTable } from '../storage/schema.ts';

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
