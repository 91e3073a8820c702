import { timingSafeEqual } from 'node:crypto';
import { Glob } from '@actlog/policy';
import type { ErrorDetail } from '@actlog/protocol';
import { ApiError } from '../lib/api-error.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import type { Storage } from '../storage/storage.ts';
import { addAgentsOfKey, findKeys, hasEnded, type KeyRecord } from '../storage/stores/key-store.ts';
import { identifyApiKey } from './api-key.ts';
import type { Caller } from './caller.ts';

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
  readonly #requiresIdentity: boolean;
  readonly #cached = new Map<string, CachedKey>();
  readonly #reading = new Map<string, Promise<CachedKey | undefined>>();
  #generation = 0;

  constructor(
    storage: Storage,
    options: { readonly acceptsTestKeys: boolean; readonly requiresIdentity?: boolean },
  ) {
    this.#lookups = new KeyLookups(storage);
    this.#acceptsTestKeys = options.acceptsTestKeys;
    this.#requiresIdentity = options.requiresIdentity ?? false;
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
      requiresIdentity: this.#requiresIdentity || record.requiresIdentity,
      user: undefined,
    };
    const fresh = { record, caller, readMs: nowMs };
    // A key that was read during a change may be outdated, so it is not cached.
    if (generation !== this.#generation) return fresh;
    keepNewest(this.#cached, id, fresh, maxCachedKeys);
    return fresh;
  }
}

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

/** The fields of a caller by which a revoked agent stops it. */
export type KeyHolder = Pick<Caller, 'tenantId' | 'keyId' | 'agents' | 'isShared'>;

/** Maximum number of pairs of a key and an agent that are known to be recorded. */
const maxKnown = 50_000;

/** `true` if the caller may act as an agent: its key is bound to no agents, or to this one. */
function mayActAs({ agents }: Pick<Caller, 'agents'>, agentId: string): boolean {
  return agents === undefined || agents.some((pattern) => pattern.matches(agentId));
}

/** @throws ApiError `PERMISSION_DENIED` when the caller's key is bound to other agents. */
export function requireAgent(caller: Caller, agentId: string): void {
  if (mayActAs(caller, agentId)) return;
  const patterns = (caller.agents ?? []).map(({ pattern }) => JSON.stringify(pattern)).join(', ');
  throw new ApiError(
    'PERMISSION_DENIED',
    `The API key may act as the agents ${patterns} only, not as ${JSON.stringify(agentId)}. Use that agent's own key.`,
    { details: [otherAgent] },
  );
}

/** Finding about a request as an agent that its key or token may not act as. Recorders then go on with other agents. */
export const otherAgent: ErrorDetail = {
  path: 'agentId',
  code: 'agent_not_allowed',
  message: 'is an agent that the caller may not act as',
};

/**
 * Records as which agents each key acts, for the kill switch: an agent's id is what the holder of the key claims, so a
 * revocation that applied to the id alone would end with the next name.
 */
export class KeyAgents {
  readonly #storage: Storage;
  readonly #turns: TenantTurns;
  /** Agents already recorded, by key and agent. */
  readonly #known = new Map<string, true>();
  /** Keys with more agents than are kept. */
  readonly #full = new Map<string, true>();

  /** @param turns - shares the writing connections between tenants */
  constructor(storage: Storage, turns: TenantTurns) {
    this.#storage = storage;
    this.#turns = turns;
  }

  /**
   * Admits a caller that acts as agents: records an event or checks an action.
   *
   * @param above - agents around those; the key is not required to be bound to them, because they permit nothing
   * @returns `undefined` if nothing is to be recorded, which is the common case; otherwise a promise that resolves when
   *   the agents are recorded
   * @throws ApiError `PERMISSION_DENIED` when the caller's key is bound to other agents.
   */
  admit(
    caller: Caller,
    agentIds: Iterable<string>,
    above: readonly string[] = [],
  ): Promise<void> | undefined {
    const { tenantId, keyId, isShared } = caller;
    const isRecorded = keyId === undefined || isShared || this.#full.has(keyId);
    const unknown: string[] = [];
    const note = (agentId: string) => {
      if (!isRecorded && !this.#known.has(`${keyId} ${agentId}`)) unknown.push(agentId);
    };
    for (const agentId of agentIds) {
      requireAgent(caller, agentId);
      note(agentId);
    }
    for (const agentId of above) if (mayActAs(caller, agentId)) note(agentId);
    if (isRecorded || unknown.length === 0) return undefined;
    return this.#record(tenantId, keyId, unknown);
  }

  async #record(tenantId: number, keyId: string, agentIds: readonly string[]): Promise<void> {
    const { isFull } = await this.#turns.run(tenantId, () =>
      this.#storage.write(tenantId, ({ db }) => addAgentsOfKey(db, tenantId, keyId, agentIds)),
    );
    if (isFull) keepNewest(this.#full, keyId, true, maxKnown);
    for (const agentId of agentIds) keepNewest(this.#known, `${keyId} ${agentId}`, true, maxKnown);
  }
}

/** A revoked agent that stops a check. */
export interface StoppingAgent {
  readonly agentId: string;
  /** The agent of the check, an agent above it, or another one that its key has acted as. */
  readonly is: 'agent' | 'above' | 'other';
}

/**
 * Returns the revoked agent that stops a caller's check as an agent: this agent, one above it, or another one that the
 * caller's key has acted as and still may act as, unless several agents share the key.
 *
 * @param revoked - revoked agents among these and the agents of the key; see `readCheckState`
 */
export function stoppingAgent(
  caller: KeyHolder,
  agentId: string,
  above: readonly string[],
  revoked: readonly string[],
): StoppingAgent | undefined {
  if (revoked.includes(agentId)) return { agentId, is: 'agent' };
  const outer = above.find((id) => revoked.includes(id));
  if (outer !== undefined) return { agentId: outer, is: 'above' };
  const other = revoked.find((id) => mayActAs(caller, id));
  return other === undefined ? undefined : { agentId: other, is: 'other' };
}
