import { type Arrival, type RiskEvent, riskEvent } from '@actlog/risk';
import type { Selectable } from 'kysely';
import type { EventTable } from '../storage/schema.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';
import { storedEvent } from '../storage/stores/event-row.ts';
import type { Database } from '../storage/transaction.ts';

/** Observer of recorded events, for the risk of their sessions. */
export interface RiskObserver {
  /** Loads the state of the tenant. */
  loadTenant(db: Database, tenantId: number): Promise<void>;
  /** Loads a session's state before its new events are written. */
  load(db: Database, tenantId: number, summary: SessionSummary): Promise<void>;
  /** Returns the part of an event's risk context that depends on data outside its session. */
  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number;
  /** Reverts the stamps of repeated events, which must not change anything. */
  revert(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void>;
  /** Observes an event that was written. */
  observe(tenantId: number, event: RiskEvent, stamp: number): void;
}

/** Returns a stored event in the format of the risk engine. */
export function storedRiskEvent(row: Selectable<EventTable>): RiskEvent {
  return riskEvent(storedEvent(row));
}
