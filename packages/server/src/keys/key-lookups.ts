import type { Storage } from '../storage/storage.ts';
import { findKeys, type KeyRecord } from '../storage/stores/key-store.ts';

/** Maximum number of concurrent queries. */
const maxQueries = 2;

/** Maximum number of keys per query. */
const maxKeysPerQuery = 500;

interface Lookup {
  readonly id: string;
  readonly resolve: (record: KeyRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads keys from the database with at most two concurrent queries. Lookups that arrive meanwhile share the next query,
 * so an existing key is found after one or two queries, however many unknown keys are sent.
 */
export class KeyLookups {
  readonly #storage: Storage;
  readonly #waiting: Lookup[] = [];
  #queries = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Returns the key with this id, or `undefined` if there is none. */
  find(id: string): Promise<KeyRecord | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject });
      if (this.#queries < maxQueries) void this.#query();
    });
  }

  async #query(): Promise<void> {
    this.#queries += 1;
    while (this.#waiting.length > 0) {
      const lookups = this.#waiting.splice(0, maxKeysPerQuery);
      const ids = lookups.map(({ id }) => id);
      try {
        const found = await this.#storage.readAcross('authenticate', (db) => findKeys(db, ids));
        for (const { id, resolve } of lookups) resolve(found.get(id));
      } catch (error) {
        for (const { reject } of lookups) reject(error);
      }
    }
    this.#queries -= 1;
  }
}
