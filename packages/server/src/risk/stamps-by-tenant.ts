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
import { findTenantRisk, saveTenantRisk } from '../storage/stores/risk-store.ts';
import type { Database, Write } from '../storage/transaction.ts';

/** Cached stamps of all tenants. */
export class StampsByTenant {
  readonly #stamps = new Map<number, TenantStamps>();

  /** Loads the state of a tenant. Call it before `stamp`. */
  async load(db: Database, tenantId: number): Promise<void> {
    const stamps = this.#stamps.get(tenantId);
    if (stamps) await stamps.renew(db, tenantId);
    else this.#stamps.set(tenantId, await TenantStamps.load(db, tenantId));
  }

  /** Returns the stamp of an arriving event. */
  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number {
    const stamps = this.#stamps.get(tenantId);
    if (!stamps) throw new Error(`The risk of tenant ${tenantId} is not at hand.`);
    return stamps.stamp(event, arrival);
  }

  /** Reverts events that turned out to be repeats, which must not change anything. */
  async revert(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    await this.#stamps.get(tenantId)?.revert(db, tenantId, repeats);
  }

  /** Must be called at the end of a transaction, committed or not. */
  endTransaction(isCommitted: boolean): void {
    for (const stamps of this.#stamps.values()) stamps.endTransaction(isCommitted);
  }

  /** Makes the next stamp read the stored state first. */
  invalidate(): void {
    for (const stamps of this.#stamps.values()) stamps.invalidate();
  }

  /** Stores the observed state of the given tenants, or of all. */
  async share({ db, afterCommit }: Write, tenantIds: Iterable<number> = this.#stamps.keys()): Promise<void> {
    for (const tenantId of [...tenantIds]) {
      const afterShared = await this.#stamps.get(tenantId)?.share(db, tenantId);
      if (afterShared) afterCommit(afterShared);
    }
  }
}

/** Maximum number of unshared events that changed the state; beyond it the oldest are never shared. */
const maxUnsharedEvents = 5000;

/** Time after which a copy is renewed before the next stamp, in milliseconds. */
const maxCopyAgeMs = 1000;

/** An event that changed the state. */
interface Observation {
  readonly event: RiskEvent;
  readonly arrival: Arrival;
}

/**
 * Tenant-wide risk context of events, with several writing processes. Each process works on a copy, and about
 * once a second adds its observations to the stored state, because synchronizing at every event would make all
 * processes as slow as one. A copy older than a second is renewed before it stamps an event. A stamp may therefore miss
 * observations that another process has not shared yet, or that were shared within the second since the last renewal.
 */
class TenantStamps {
  #state: TenantState;
  /** Committed events that are not in the stored state yet. */
  #unshared: Observation[] = [];
  /** Events of the open transaction. */
  #open: Observation[] = [];
  /** Time at which the copy last equaled the stored state, on the monotonic clock. */
  #copiedMs: number;

  private constructor(state: TenantState, copiedMs: number) {
    this.#state = state;
    this.#copiedMs = copiedMs;
  }

  /** Creates the stamps from the stored state. */
  static async load(db: Database, tenantId: number): Promise<TenantStamps> {
    const copiedMs = performance.now();
    return new TenantStamps(await storedState(db, tenantId), copiedMs);
  }

  /** Reads the stored state if this copy is too old. Takes no locks. */
  async renew(db: Database, tenantId: number): Promise<void> {
    const copiedMs = performance.now();
    if (copiedMs - this.#copiedMs < maxCopyAgeMs) return;
    const before = this.#state;
    const state = await storedState(db, tenantId);
    // If `share` replaced the state meanwhile, that state is newer.
    if (this.#state !== before) return;
    this.#replaceState(state, copiedMs);
  }

  /** Returns the stamp of an arriving event. */
  stamp(event: RiskEvent, arrival: Arrival): number {
    const { stamp, changed } = stampEvent(this.#state, event, arrival);
    if (changed) this.#open.push({ event, arrival });
    return stamp;
  }

  /** Reverts events that turned out to be repeats, which must not change anything. */
  async revert(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    const reverted = new Set(repeats);
    const open = this.#open.filter(({ event }) => !reverted.has(event));
    if (open.length === this.#open.length) return;
    this.#open = open;
    this.invalidate();
    await this.renew(db, tenantId);
  }

  /** Must be called at the end of a transaction, committed or not. */
  endTransaction(isCommitted: boolean): void {
    if (this.#open.length === 0) return;
    if (isCommitted) this.#keep(this.#open);
    else this.invalidate();
    this.#open = [];
  }

  /** Makes the next stamp read the stored state first. */
  invalidate(): void {
    this.#copiedMs = Number.NEGATIVE_INFINITY;
  }

  /** Adds the observations to the stored state. Returns a function to call after the commit. */
  async share(db: Database, tenantId: number): Promise<() => void> {
    if (this.#unshared.length === 0) return () => {};
    await lockNames(db, tenantId, ['tenant risk']);
    const copiedMs = performance.now();
    const state = await storedState(db, tenantId);
    // Kept as a set, because another transaction may share some of the events while this one waits for the lock.
    const shared = new Set(this.#unshared);
    for (const { event, arrival } of shared) stampEvent(state, event, arrival);
    await saveTenantRisk(db, tenantId, serializeTenant(state));
    return () => {
      this.#unshared = this.#unshared.filter((observations) => !shared.has(observations));
      this.#replaceState(state, copiedMs);
    };
  }

  #keep(observations: readonly Observation[]): void {
    for (const { event, arrival } of observations)
      this.#unshared.push({ event: withStampedFields(event), arrival });
    if (this.#unshared.length > maxUnsharedEvents)
      this.#unshared.splice(0, this.#unshared.length - maxUnsharedEvents);
  }

  /** Replaces this process's copy, and applies the events that are not in it. */
  #replaceState(state: TenantState, copiedMs: number): void {
    for (const { event, arrival } of [...this.#unshared, ...this.#open]) stampEvent(state, event, arrival);
    this.#state = state;
    this.#copiedMs = copiedMs;
  }
}

/** Returns an event with only the payload fields that stamps read, because many large payloads could accumulate. */
function withStampedFields({ payload, ...event }: RiskEvent): RiskEvent {
  const { contentHash, toAgentId } = payload ?? {};
  return { ...event, payload: { contentHash, toAgentId } };
}

async function storedState(db: Database, tenantId: number): Promise<TenantState> {
  const stored = await findTenantRisk(db, tenantId);
  return stored === undefined ? emptyTenant() : parseTenant(stored);
}
