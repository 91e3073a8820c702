import type { Scope } from '@actlog/protocol';
import {
  copyAgentsOfKey,
  expireKey,
  hasEnded,
  type KeyRecord,
  lockKey,
  type StoredKey,
} from '../storage/stores/key-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { KeyKind } from './api-key.ts';
import { keyEndMs, overlapEndMs } from './lifetime.ts';
import { addKey } from './provisioning.ts';

/** Options for creating a key. */
export interface CreateKeyOptions {
  /** Name for people; the id identifies the key. */
  readonly name: string;
  /** Kind of the key. Default: `live`. */
  readonly kind?: KeyKind | undefined;
  /** Scopes of the key. Default: all. An agent needs only `ingest`. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Days until the key expires. Default: never. */
  readonly expiresInDays?: number | undefined;
  /**
   * Ids of the agents that the key may act as, with `*` for any characters, such as `billing*`. Events and checks of
   * other agents are refused. Default: any agent.
   */
  readonly agents?: readonly string[] | null | undefined;
  /**
   * `true` if several agents share the key and its holder names them truthfully, as a gateway does. Revoking one of them
   * then does not stop the others. Default: `false`, so a key that has acted as a revoked agent is stopped as every agent.
   */
  readonly shared?: boolean | undefined;
  /** `true` if its events, spans and checks need a token that verifies their agent. Default: `false`. */
  readonly requiresIdentity?: boolean | undefined;
}

/** A new key. `apiKey` is shown only this once. */
export interface CreatedKey {
  readonly apiKey: string;
  readonly key: StoredKey;
}

/** Options for replacing a key. */
export interface KeyRotation {
  readonly overlapDays: number;
  readonly expiresInDays?: number | undefined;
}

/** Result of revoking a key. */
export interface RevokedKey {
  readonly key: StoredKey;
  /** `true` if the key had already ended, so that nothing changed. */
  readonly hadEnded: boolean;
}

/** Error thrown when a key that has ended is to be replaced. */
export class EndedKeyError extends Error {
  override readonly name = 'EndedKeyError';

  constructor(keyId: string) {
    super(`The key "${keyId}" has ended and cannot be replaced; create a new one.`);
  }
}

/**
 * Creates a key of a tenant.
 *
 * @param createdBy - person or key that creates it; by default an operator
 * @throws RangeError for an expiry in the past or beyond 100 years, and for a name that does not fit on one line.
 */
export async function createKey(
  db: Database,
  tenantId: number,
  { name, kind = 'live', scopes, expiresInDays, agents, shared, requiresIdentity }: CreateKeyOptions,
  createdBy?: string,
): Promise<CreatedKey> {
  const { key, stored } = await addKey(db, tenantId, {
    kind,
    name,
    scopes,
    expiresMs: keyEndMs(expiresInDays),
    createdBy,
    agents,
    shared,
    requiresIdentity,
  });
  return { apiKey: key, key: withoutDigest(stored) };
}

/**
 * Replaces a key by a new one with the same name, kind, scopes and agents, which is stopped by the same revocations. The
 * old key ends after the overlap, or at its own expiry if that is earlier. Rotations of one key are serialized: of two concurrent ones without overlap, the second
 * finds the key ended; with an overlap, each creates a key.
 *
 * @param change - `overlapDays` from 0 to 7, where 0 ends the old key at once; `expiresInDays` of the new key, which
 *   never expires by default
 * @returns `undefined` when the tenant has no such key.
 * @throws RangeError for an invalid overlap or expiry; EndedKeyError when the key has ended.
 */
export async function rotateKey(
  db: Database,
  tenantId: number,
  keyId: string,
  { overlapDays, expiresInDays }: KeyRotation,
  createdBy?: string,
): Promise<CreatedKey | undefined> {
  const endMs = overlapEndMs(overlapDays);
  const old = await lockKey(db, tenantId, keyId);
  if (!old) return undefined;
  if (hasEnded(old)) throw new EndedKeyError(keyId);
  const { name, kind, scopes, agents, shared, requiresIdentity } = old;
  const successor = { name, kind, scopes, agents, shared, requiresIdentity, expiresInDays };
  const created = await createKey(db, tenantId, successor, createdBy);
  await copyAgentsOfKey(db, tenantId, keyId, created.key.id);
  await expireKey(db, tenantId, keyId, endMs);
  return created;
}

/** Ends a key at once. A key that has ended is unchanged. Returns `undefined` when the tenant has no such key. */
export async function revokeKey(
  db: Database,
  tenantId: number,
  keyId: string,
): Promise<RevokedKey | undefined> {
  const record = await lockKey(db, tenantId, keyId);
  if (!record) return undefined;
  if (hasEnded(record)) return { key: withoutDigest(record), hadEnded: true };
  const expiresMs = Date.now();
  await expireKey(db, tenantId, keyId, expiresMs);
  return { key: withoutDigest({ ...record, expiresMs }), hadEnded: false };
}

/** Returns the fields of a key that may be shown. */
export function withoutDigest(key: KeyRecord | StoredKey): StoredKey {
  const { tenantId: _tenant, digest: _digest, ...shown } = key as KeyRecord;
  return shown;
}
