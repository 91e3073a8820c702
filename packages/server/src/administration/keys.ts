import { identifyApiKey } from '../keys/api-key.ts';
import {
  type CreatedKey,
  type CreateKeyOptions,
  createKey,
  revokeKey,
  rotateKey,
  withoutDigest,
} from '../keys/key-changes.ts';
import { parseKeyOptions } from '../keys/key-options.ts';
import type { Storage } from '../storage/storage.ts';
import { findKey, listKeys, type StoredKey } from '../storage/stores/key-store.ts';
import { tenantIdOf } from '../storage/stores/tenant-store.ts';

/** API keys of tenants. */
export class KeyAdministration {
  readonly #storage: Storage;
  readonly #onKeyChanged: (keyId: string) => void;

  /** @internal */
  constructor(storage: Storage, onKeyChanged: (keyId: string) => void) {
    this.#storage = storage;
    this.#onKeyChanged = onKeyChanged;
  }

  /**
   * Creates a key of a tenant.
   *
   * @throws TypeError for a missing or unknown option; RangeError for an invalid expiry or name; Error when there is no
   *   such tenant.
   */
  async create(tenant: string, options: CreateKeyOptions): Promise<CreatedKey> {
    const checked = parseKeyOptions(options);
    return this.#storage.writeAcross('administer', async ({ db }) =>
      createKey(db, await tenantIdOf(db, tenant), checked),
    );
  }

  /** Returns the keys of a tenant, oldest first. */
  async list(tenant: string): Promise<StoredKey[]> {
    const records = await this.#storage.readAcross('administer', async (db) =>
      listKeys(db, await tenantIdOf(db, tenant)),
    );
    return records.map(withoutDigest);
  }

  /**
   * Replaces a key by a new one with the same name, kind and scopes. The old key ends after the overlap.
   *
   * @param overlapDays - 0 to 7; 0 ends the old key at once. Default: 1
   * @param expiresInDays - days until the new key expires. Default: never, even if the old key had an expiry
   * @throws RangeError for invalid days; Error when there is no such tenant or key, or when the key has ended.
   */
  async rotate(tenant: string, keyId: string, overlapDays = 1, expiresInDays?: number): Promise<CreatedKey> {
    const created = await this.#storage.writeAcross('administer', async ({ db }) =>
      rotateKey(db, await tenantIdOf(db, tenant), keyId, { overlapDays, expiresInDays }),
    );
    if (!created) throw unknownKey(tenant, keyId);
    this.#onKeyChanged(keyId);
    return created;
  }

  /** Ends a key at once. @throws Error when there is no such tenant or key. */
  async revoke(tenant: string, keyId: string): Promise<void> {
    const revoked = await this.#storage.writeAcross('administer', async ({ db }) =>
      revokeKey(db, await tenantIdOf(db, tenant), keyId),
    );
    if (!revoked) throw unknownKey(tenant, keyId);
    this.#onKeyChanged(keyId);
  }

  /** Ends a key given in full, such as one found in public. Returns `true` if the key was known. */
  async revokeLeaked(apiKey: string): Promise<boolean> {
    const identity = identifyApiKey(apiKey);
    if (!identity) return false;
    const isKnown = await this.#storage.writeAcross('administer', async ({ db }) => {
      const found = await findKey(db, identity.id);
      if (found?.digest !== identity.digest) return false;
      return (await revokeKey(db, found.tenantId, found.id)) !== undefined;
    });
    this.#onKeyChanged(identity.id);
    return isKnown;
  }
}

function unknownKey(tenant: string, keyId: string): Error {
  return new Error(`The tenant "${tenant}" has no key "${keyId}".`);
}
