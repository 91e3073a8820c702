import {
  type Arrival,
  emptyTenant,
  parseTenant,
  type RiskEvent,
  serializeTenant,
  stampEvent,
  type TenantState,
} from '@actlog/risk';
import { lockNames } from '../storage/locks.ts';
import { findTenantRisk, saveTenantRisk } from '../storage/risk-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Events that changed the state since it was last shared, beyond which the oldest are not shared any more. */
const keptEvents = 5000;

/**
 * What can be seen of a tenant's events beyond their sessions, where several processes write. Each works on a copy
 * of its own, and about once a second adds what it has seen to the stored one: waiting for each other at every event
 * would make all of them as slow as one. So what others saw within that second may be missing from a stamp.
 */
export class TenantStamps {
  #state: TenantState;
  #unshared: { readonly event: RiskEvent; readonly arrival: Arrival }[] = [];

  private constructor(state: TenantState) {
    this.#state = state;
  }

  /** Begins with what is stored. */
  static async load(db: Database, tenantId: number): Promise<TenantStamps> {
    return new TenantStamps(await storedState(db, tenantId));
  }

  /** The stamp of an event that arrives. */
  stamp(event: RiskEvent, arrival: Arrival): number {
    const { stamp, changed } = stampEvent(this.#state, event, arrival);
    if (changed) {
      this.#unshared.push({ event, arrival });
      if (this.#unshared.length > keptEvents) this.#unshared.shift();
    }
    return stamp;
  }

  /** Adds what was seen here to the stored state, and goes on with that. Returns what to do after the commit. */
  async share(db: Database, tenantId: number): Promise<() => void> {
    const shared = this.#unshared.length;
    if (shared === 0) return () => {};
    await lockNames(db, tenantId, ['tenant risk']);
    const state = await storedState(db, tenantId);
    for (const { event, arrival } of this.#unshared) stampEvent(state, event, arrival);
    await saveTenantRisk(db, tenantId, serializeTenant(state));
    return () => {
      this.#unshared = this.#unshared.slice(shared);
      for (const { event, arrival } of this.#unshared) stampEvent(state, event, arrival);
      this.#state = state;
    };
  }
}

async function storedState(db: Database, tenantId: number): Promise<TenantState> {
  const stored = await findTenantRisk(db, tenantId);
  return stored === undefined ? emptyTenant() : parseTenant(stored);
}
