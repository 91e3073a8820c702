import type { Arrival, RiskEvent } from '@actlog/risk';
import type { Database, Write } from '../storage/transaction.ts';
import { TenantStamps } from './tenant-stamps.ts';

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
