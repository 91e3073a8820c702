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

/** Milliseconds after which what others have shared is looked at before the next stamp. */
const copyServesMs = 1000;

/** An event that changed the state. */
interface Seen {
  readonly event: RiskEvent;
  readonly arrival: Arrival;
}

/**
 * What can be seen of a tenant's events beyond their sessions, where several processes may write. Each works on a copy
 * of its own, and about once a second adds what it has seen to the stored one: waiting for each other at every event
 * would make all of them as slow as one. A copy that is older than a second is renewed before it stamps an event. So
 * a stamp may miss what others saw in the second before they shared it, and what they shared in the second after
 * this process last looked.
 */
export class TenantStamps {
  #state: TenantState;
  /** Durable, and not in the stored state yet. */
  #unshared: Seen[] = [];
  /** Of the transaction that is open. */
  #open: Seen[] = [];
  /** When the copy was last as the stored state, on the clock that never jumps. */
  #copiedMs: number;

  private constructor(state: TenantState, copiedMs: number) {
    this.#state = state;
    this.#copiedMs = copiedMs;
  }

  /** Begins with what is stored. */
  static async load(db: Database, tenantId: number): Promise<TenantStamps> {
    const copiedMs = performance.now();
    return new TenantStamps(await storedState(db, tenantId), copiedMs);
  }

  /** Takes over what others have shared, when this copy is too old to stamp with. Locks nothing. */
  async renew(db: Database, tenantId: number): Promise<void> {
    const copiedMs = performance.now();
    if (copiedMs - this.#copiedMs < copyServesMs) return;
    const before = this.#state;
    const state = await storedState(db, tenantId);
    // A state that was shared meanwhile is newer, and what is in it counts as shared.
    if (this.#state !== before) return;
    this.#goOnWith(state, copiedMs);
  }

  /** The stamp of an event that arrives. */
  stamp(event: RiskEvent, arrival: Arrival): number {
    const { stamp, changed } = stampEvent(this.#state, event, arrival);
    if (changed) this.#open.push({ event, arrival });
    return stamp;
  }

  /** Takes events back that turned out to be repeats, which must not change anything. */
  async withdraw(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    const withdrawn = new Set(repeats);
    const open = this.#open.filter(({ event }) => !withdrawn.has(event));
    if (open.length === this.#open.length) return;
    this.#open = open;
    this.outdate();
    await this.renew(db, tenantId);
  }

  /** Says that the events that were stamped since the last call are durable, or that they are not stored at all. */
  endTransaction(isCommitted: boolean): void {
    if (this.#open.length === 0) return;
    if (isCommitted) this.#keep(this.#open);
    else this.outdate();
    this.#open = [];
  }

  /** Has the stored state looked at before the next stamp. */
  outdate(): void {
    this.#copiedMs = Number.NEGATIVE_INFINITY;
  }

  /** Adds what was seen here to the stored state, and goes on with that. Returns what to do after the commit. */
  async share(db: Database, tenantId: number): Promise<() => void> {
    if (this.#unshared.length === 0) return () => {};
    await lockNames(db, tenantId, ['tenant risk']);
    const copiedMs = performance.now();
    const state = await storedState(db, tenantId);
    // Known one by one: while this one waited for the lock, another may have shared some of them.
    const shared = new Set(this.#unshared);
    for (const { event, arrival } of shared) stampEvent(state, event, arrival);
    await saveTenantRisk(db, tenantId, serializeTenant(state));
    return () => {
      this.#unshared = this.#unshared.filter((seen) => !shared.has(seen));
      this.#goOnWith(state, copiedMs);
    };
  }

  #keep(seen: readonly Seen[]): void {
    for (const { event, arrival } of seen) this.#unshared.push({ event: withoutRest(event), arrival });
    if (this.#unshared.length > keptEvents) this.#unshared.splice(0, this.#unshared.length - keptEvents);
  }

  /** Makes a state this process's copy, with what only this process has seen. */
  #goOnWith(state: TenantState, copiedMs: number): void {
    for (const { event, arrival } of [...this.#unshared, ...this.#open]) stampEvent(state, event, arrival);
    this.#state = state;
    this.#copiedMs = copiedMs;
  }
}

/** The event with no more of its payload than a stamp looks at: a payload may be large, and many may wait. */
function withoutRest({ payload, ...event }: RiskEvent): RiskEvent {
  const { contentHash, toAgentId } = payload ?? {};
  return { ...event, payload: { contentHash, toAgentId } };
}

async function storedState(db: Database, tenantId: number): Promise<TenantState> {
  const stored = await findTenantRisk(db, tenantId);
  return stored === undefined ? emptyTenant() : parseTenant(stored);
}
