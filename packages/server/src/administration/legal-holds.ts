import type { LegalHold, LegalHoldDraft } from '@actlog/protocol';
import { listLegalHolds, maxLegalHolds } from '../storage/retention/legal-holds.ts';
import type { Storage } from '../storage/storage.ts';
import { operator, recordUnlimited } from '../tenants/audit-log.ts';
import { createLegalHold, legalHoldView, releaseLegalHoldOf } from '../tenants/legal-holds.ts';
import { requireSingleLineName } from '../tenants/single-line-name.ts';
import { findTenantId } from './tenants.ts';

/** Legal holds of tenants: nothing that one covers is deleted, by anyone, until it is released. */
export class LegalHoldAdministration {
  readonly #storage: Storage;

  /** @internal */
  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Places a legal hold on everything of a tenant, or on what matches all parts of the scope that are given.
   *
   * @throws RangeError for an invalid name or time, or too many holds; Error when there is no such tenant.
   */
  async create(tenant: string, draft: LegalHoldDraft): Promise<LegalHold> {
    requireSingleLineName('legal hold', draft.name);
    for (const field of ['since', 'until'] as const) {
      const time = draft[field];
      if (time == null || !Number.isNaN(Date.parse(time))) continue;
      throw new RangeError(
        `\`${field}\` must be a time in ISO 8601, such as 2026-11-01T00:00:00Z, not "${time}".`,
      );
    }
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.write(owner, async ({ db }) => {
      const { hold, change } = await createLegalHold(db, owner, draft, operator);
      if (change) await recordUnlimited(db, owner, operator, change);
      return hold;
    });
  }

  /** Returns the legal holds of a tenant, newest first. @throws Error when there is no such tenant. */
  async list(tenant: string): Promise<LegalHold[]> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.read(owner, async (db) => {
      const holds: LegalHold[] = [];
      for (;;) {
        const afterId = holds.at(-1)?.id;
        const rows = await listLegalHolds(db, owner, { afterId, limit: maxLegalHolds });
        holds.push(...rows.slice(0, maxLegalHolds).map(legalHoldView));
        if (rows.length <= maxLegalHolds) return holds;
      }
    });
  }

  /**
   * Releases a legal hold; releasing it again changes nothing. Retention may delete what it covered from then on.
   *
   * @throws Error when there is no such tenant or hold.
   */
  async release(tenant: string, id: string): Promise<LegalHold> {
    const owner = await findTenantId(this.#storage, tenant);
    const released = await this.#storage.write(owner, async ({ db }) => {
      const result = await releaseLegalHoldOf(db, owner, id, operator);
      if (typeof result === 'object' && result.change) {
        await recordUnlimited(db, owner, operator, result.change);
      }
      return result;
    });
    if (typeof released === 'object') return released.hold;
    throw new Error(`The tenant "${tenant}" has no legal hold "${id}".`);
  }
}
