import { type RiskEvent, riskEvent } from '@actlog/risk';
import type { Selectable } from 'kysely';
import type { EventTable } from '../storage/schema.ts';
import { storedEvent } from '../storage/stores/event-row.ts';

/** Returns a stored event in the format of the risk engine. */
export function storedRiskEvent(row: Selectable<EventTable>): RiskEvent {
  return riskEvent(storedEvent(row));
}
