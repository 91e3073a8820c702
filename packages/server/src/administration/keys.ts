import type { Storage } from '../storage/storage.ts';
import { findKey, listKeys, type StoredKey } from '../storage/stores/key-store.ts';
import { tenantIdOf } from '../storage/stores/tenant-store.ts';
import type { Database } from '../storage/transaction.ts';
import { identifyApiKey } from '../tenants/api-key.ts';
import { type Change, keyChange, operator, recordUnlimited, rotationChange } from '../tenants/audit-log.ts';
import {
  type CreatedKey,
  type CreateKeyOptions,
  createKey,
  type RevokedKey,
  revokeKey,
  rotateKey,
  withoutDigest,
} from '../tenants/key-changes.ts';
import { parseKeyOptions } from '../tenants/key-options.ts';
import { findTenantId } from './tenants.ts';

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
    const owner = await findTenantId(this.#storage, tenant);
    return this.#change(
      owner,
      (db) => createKey(db, owner, checked),
      ({ key }) => keyChange('key.created', key),
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
    const owner = await findTenantId(this.#storage, tenant);
    const created = await this.#change(
      owner,
      (db) => rotateKey(db, owner, keyId, { overlapDays, expiresInDays }),
      (made) => made && rotationChange(keyId, made.key),
    );
    if (!created) throw unknownKey(tenant, keyId);
    this.#onKeyChanged(keyId);
    return created;
  }

  /** Ends a key at once. @throws Error when there is no such tenant or key. */
  async revoke(tenant: string, keyId: string): Promise<void> {
    const owner = await findTenantId(this.#storage, tenant);
    const revoked = await this.#revoke(owner, keyId);
    if (!revoked) throw unknownKey(tenant, keyId);
    this.#onKeyChanged(keyId);
  }

  /** Ends a key given in full, such as one found in public. Returns `true` if the key was known. */
  async revokeLeaked(apiKey: string): Promise<boolean> {
    const identity = identifyApiKey(apiKey);
    if (!identity) return false;
    const found = await this.#storage.readAcross('administer', (db) => findKey(db, identity.id));
    if (found?.digest !== identity.digest) return false;
    const revoked = await this.#revoke(found.tenantId, found.id);
    this.#onKeyChanged(identity.id);
    return revoked !== undefined;
  }

  #revoke(tenantId: number, keyId: string): Promise<RevokedKey | undefined> {
    return this.#change(
      tenantId,
      (db) => revokeKey(db, tenantId, keyId),
      (done) => (done && !done.hadEnded ? keyChange('key.revoked', done.key) : undefined),
    );
  }

  /** Changes keys of a tenant, with the entry of the audit log; `entryOf` returns `undefined` if nothing has changed. */
  #change<Result>(
    tenantId: number,
    change: (db: Database) => Promise<Result>,
    entryOf: (result: Result) => Change | undefined,
  ): Promise<Result> {
    return this.#storage.write(tenantId, async ({ db }) => {
      const result = await change(db);
      const entry = entryOf(result);
      if (entry) await recordUnlimited(db, tenantId, operator, entry);
      return result;
    });
  }
}

function unknownKey(tenant: string, keyId: string): Error {
  return new Error(`The tenant "${tenant}" has no key "${keyId}".`);
}
