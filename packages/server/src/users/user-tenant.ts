import { keyCacheMs } from '../keys/key-ring.ts';
import type { Storage } from '../storage/storage.ts';
import { tenantNamed } from '../storage/stores/tenant-store.ts';

/** The tenant of the people who sign in. It may be deleted, and created again with another number. */
export class UserTenant {
  readonly #storage: Storage;
  readonly #name: string;
  #found: { readonly id: number | undefined; readonly readMs: number } | undefined;

  constructor(storage: Storage, name: string) {
    this.#storage = storage;
    this.#name = name;
  }

  /** Returns the number of the tenant, up to a second late; `undefined` if it was deleted. */
  async id(): Promise<number | undefined> {
    if (this.#found && Math.abs(Date.now() - this.#found.readMs) < keyCacheMs) return this.#found.id;
    const readMs = Date.now();
    const tenant = await this.#storage.readAcross('administer', (db) => tenantNamed(db, this.#name));
    this.#found = { id: tenant?.id, readMs };
    return tenant?.id;
  }
}
