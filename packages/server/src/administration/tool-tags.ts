import { operator } from '../audit/actor.ts';
import { recordUnlimited } from '../audit/record-change.ts';
import { changeToolTags, readToolTags, type ToolTagChanges, type ToolTags } from '../risk/tool-tags.ts';
import type { Storage } from '../storage/storage.ts';
import { findTenantId } from './find-tenant-id.ts';

/** Corrected tags of tenants' tools. */
export class ToolTagAdministration {
  readonly #storage: Storage;

  /** @internal */
  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Returns the corrected tags of a tenant, by tool name. @throws Error when there is no such tenant. */
  async list(tenant: string): Promise<ToolTags> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.read(owner, (db) => readToolTags(db, owner));
  }

  /**
   * Changes the tags by which the risk engine classifies a tenant's tools, for sessions that begin from now on. `null`
   * restores the classification by name. Other tools are unchanged.
   *
   * @returns all corrected tags of the tenant.
   * @throws TypeError for an invalid name or tag; RangeError for more than 1,000 tools; Error when there is no such
   *   tenant.
   */
  async set(tenant: string, changes: ToolTagChanges): Promise<ToolTags> {
    const owner = await findTenantId(this.#storage, tenant);
    return this.#storage.write(owner, async ({ db }) => {
      const tags = await changeToolTags(db, owner, changes);
      await recordUnlimited(db, owner, operator, {
        action: 'tenant.tool_tags_changed',
        target: { id: tenant, name: tenant },
        changes: Object.entries(changes).map(([field, after]) => ({ field, after })),
      });
      return tags;
    });
  }
}
