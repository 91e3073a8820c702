import type { Arrival, RiskEvent } from '@actlog/risk';
import type { Database, Write } from '../storage/transaction.ts';
import { TenantStamps } from './tenant-stamps.ts';

/** The stamps of all tenants that a recording has at hand. */
export class StampsByTenant {
  readonly #stamps = new Map<number, TenantStamps>();

  /** Brings what is known of the tenant to hand. Call it before `stamp`. */
  async load(db: Database, tenantId: number): Promise<void> {
    const stamps = this.#stamps.get(tenantId);
    if (stamps) await stamps.renew(db, tenantId);
    else this.#stamps.set(tenantId, await TenantStamps.load(db, tenantId));
  }

  /** The stamp of an event that arrives. */
  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number {
    const stamps = this.#stamps.get(tenantId);
    if (!stamps) throw new Error(`The risk of tenant ${tenantId} is not at hand.`);
    return stamps.stamp(event, arrival);
  }

  /** Takes events back that turned out to be repeats, which must not change anything. */
  async withdraw(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void> {
    await this.#stamps.get(tenantId)?.withdraw(db, tenantId, repeats);
  }

  /** Says that the events that were stamped since the last call are durable, or that they are not stored at all. */
  endTransaction(isCommitted: boolean): void {
    for (const stamps of this.#stamps.values()) stamps.endTransaction(isCommitted);
  }

  /** Has what is stored looked at before the next stamp. */
  outdate(): void {
    for (const stamps of this.#stamps.values()) stamps.outdate();
  }

  /** Stores what was seen of a tenant, or of all. */
  async share({ db, afterCommit }: Write, tenantIds: Iterable<number> = this.#stamps.keys()): Promise<void> {
    for (const tenantId of [...tenantIds]) {
      const afterShared = await this.#stamps.get(tenantId)?.share(db, tenantId);
      if (afterShared) afterCommit(afterShared);
    }
  }
}
