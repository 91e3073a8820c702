import { timingSafeEqual } from 'node:crypto';
import { Glob } from '@actlog/policy';
import { keepNewest } from '../lib/keep-newest.ts';
import type { Storage } from '../storage/storage.ts';
import { findKeys, hasEnded, type KeyRecord } from '../storage/stores/key-store.ts';
import { identifyApiKey } from './api-key.ts';
import type { Caller } from './caller.ts';

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
class KeyLookups {
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

interface CachedKey {
  readonly record: KeyRecord;
  readonly caller: Caller;
  readonly readMs: number;
}

/** Time for which a key is cached, in milliseconds. A revocation in another process takes effect after it. */
export const keyCacheMs = 1000;

/** Maximum number of cached keys. */
const maxCachedKeys = 10_000;

const dummyDigest = Buffer.alloc(32);

/** Authenticates API keys, with a cache. */
export class KeyRing {
  readonly #lookups: KeyLookups;
  readonly #acceptsTestKeys: boolean;
  readonly #cached = new Map<string, CachedKey>();
  readonly #reading = new Map<string, Promise<CachedKey | undefined>>();
  #generation = 0;

  constructor(storage: Storage, options: { readonly acceptsTestKeys: boolean }) {
    this.#lookups = new KeyLookups(storage);
    this.#acceptsTestKeys = options.acceptsTestKeys;
  }

  /** Returns the caller of a key, or `undefined` for an unknown, wrong or expired key. */
  async authenticate(key: string): Promise<Caller | undefined> {
    const identity = identifyApiKey(key);
    if (!identity || (identity.kind === 'test' && !this.#acceptsTestKeys)) return undefined;
    const cached = await this.#lookUp(identity.id);
    const stored = cached ? Buffer.from(cached.record.digest, 'hex') : dummyDigest;
    const isRight = timingSafeEqual(Buffer.from(identity.digest, 'hex'), stored);
    if (!cached || !isRight || cached.record.kind !== identity.kind) return undefined;
    if (hasEnded(cached.record)) return undefined;
    return cached.caller;
  }

  /** `true` if a key is still valid; it may have ended since the request was admitted. */
  async isCurrent(keyId: string): Promise<boolean> {
    const cached = await this.#lookUp(keyId);
    return cached !== undefined && !hasEnded(cached.record);
  }

  /** Removes a key from the cache, so that a change takes effect at once in this process. */
  forget(id: string): void {
    this.#cached.delete(id);
    this.#reading.delete(id);
    this.#generation += 1;
  }

  /** Counter of removed keys. Conclusions from keys are outdated when it has changed. */
  get generation(): number {
    return this.#generation;
  }

  async #lookUp(id: string): Promise<CachedKey | undefined> {
    const cached = this.#cached.get(id);
    if (cached && Math.abs(Date.now() - cached.readMs) < keyCacheMs) return cached;
    // Concurrent requests share one lookup.
    const reading = this.#reading.get(id) ?? this.#read(id).finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  async #read(id: string): Promise<CachedKey | undefined> {
    const nowMs = Date.now();
    const generation = this.#generation;
    const record = await this.#lookups.find(id);
    this.#cached.delete(id);
    if (!record) return undefined;
    const caller = {
      tenantId: record.tenantId,
      id: `key_${record.id}`,
      keyId: record.id,
      keyName: record.name,
      scopes: new Set(record.scopes),
      agents: record.agents?.map((pattern) => new Glob(pattern)),
      isShared: record.shared,
      user: undefined,
    };
    const fresh = { record, caller, readMs: nowMs };
    // A key that was read during a change may be outdated, so it is not cached.
    if (generation !== this.#generation) return fresh;
    keepNewest(this.#cached, id, fresh, maxCachedKeys);
    return fresh;
  }
}
