import { type RiskEvent, riskEvent } from '@actlog/risk';
import type { Selectable } from 'kysely';
import { storedEvent } from '../storage/event-row.ts';
import type { EventTable } from '../storage/schema.ts';

/** A stored event as the risk engine reads it. */
export function storedRiskEvent(row: Selectable<EventTable>): RiskEvent {
  return riskEvent(storedEvent(row));
}
