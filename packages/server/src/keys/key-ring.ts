import { timingSafeEqual } from 'node:crypto';
import type { Scope } from '@actlog/protocol';
import { keepNewest } from '../keep-newest.ts';
import { findKey, hasEnded, type KeyRecord } from '../storage/key-store.ts';
import type { Storage } from '../storage/storage.ts';
import { identifyApiKey } from './api-key.ts';

/** Who calls: a key of a tenant. */
export interface Caller {
  readonly tenantId: number;
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
}

interface Kept {
  readonly record: KeyRecord;
  readonly caller: Caller;
  readonly readMs: number;
}

/** Milliseconds that a key is believed without asking the database, so a revocation elsewhere takes this long. */
export const keysKeptForMs = 1000;

/** Keys kept in memory; beyond them the oldest are read again. */
const keptKeys = 10_000;

const dummyDigest = Buffer.alloc(32);

/** Tells the tenant of an API key. */
export class KeyRing {
  readonly #storage: Storage;
  readonly #acceptsTestKeys: boolean;
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<Kept | undefined>>();
  #generation = 0;

  constructor(storage: Storage, options: { readonly acceptsTestKeys: boolean }) {
    this.#storage = storage;
    this.#acceptsTestKeys = options.acceptsTestKeys;
  }

  /** The caller behind a key, or undefined when the key is unknown, wrong or past its end. */
  async authenticate(key: string): Promise<Caller | undefined> {
    const identity = identifyApiKey(key);
    if (!identity || (identity.kind === 'test' && !this.#acceptsTestKeys)) return undefined;
    const kept = await this.#lookUp(identity.id);
    const stored = kept ? Buffer.from(kept.record.digest, 'hex') : dummyDigest;
    const isRight = timingSafeEqual(Buffer.from(identity.digest, 'hex'), stored);
    if (!kept || !isRight || kept.record.kind !== identity.kind) return undefined;
    if (hasEnded(kept.record)) return undefined;
    return kept.caller;
  }

  /** Whether a caller's key is still good: it may have ended since it was let in. */
  async isCurrent({ keyId }: Caller): Promise<boolean> {
    const kept = await this.#lookUp(keyId);
    return kept !== undefined && !hasEnded(kept.record);
  }

  /** Forgets a key, so that a change of it counts at once in this process. */
  forget(id: string): void {
    this.#kept.delete(id);
    this.#reading.delete(id);
    this.#generation += 1;
  }

  /** Grows whenever a key was forgotten: what was concluded from keys before may be wrong then. */
  get generation(): number {
    return this.#generation;
  }

  async #lookUp(id: string): Promise<Kept | undefined> {
    const kept = this.#kept.get(id);
    if (kept && Math.abs(Date.now() - kept.readMs) < keysKeptForMs) return kept;
    // Requests that arrive together ask once.
    const reading = this.#reading.get(id) ?? this.#read(id).finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  async #read(id: string): Promise<Kept | undefined> {
    const nowMs = Date.now();
    const generation = this.#generation;
    const record = await this.#storage.readAcross('authenticate', (db) => findKey(db, id));
    this.#kept.delete(id);
    if (!record) return undefined;
    const caller = { tenantId: record.tenantId, keyId: record.id, scopes: new Set(record.scopes) };
    const fresh = { record, caller, readMs: nowMs };
    // What was read while a key was changed may be what it was before.
    if (generation !== this.#generation) return fresh;
    keepNewest(this.#kept, id, fresh, keptKeys);
    return fresh;
  }
}
