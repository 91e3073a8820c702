import type { Scope } from '@actlog/protocol';
import { expireKey, hasEnded, type KeyRecord, lockKey, type StoredKey } from '../storage/key-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { KeyKind } from './api-key.ts';
import { keyEndMs, overlapEndMs } from './lifetime.ts';
import { addKey } from './provisioning.ts';

/** How a key is made. */
export interface CreateKeyOptions {
  /** For people; a key is told apart by its id. */
  readonly name: string;
  /** `live` by default. */
  readonly kind?: KeyKind | undefined;
  /** All by default. An agent needs `ingest` only. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Days until the key ends; never by default. */
  readonly expiresInDays?: number | undefined;
}

/** A key that was just made: the one time that it is shown. */
export interface CreatedKey {
  readonly apiKey: string;
  readonly key: StoredKey;
}

/** How a key is replaced. */
export interface KeyRotation {
  readonly overlapDays: number;
  readonly expiresInDays?: number | undefined;
}

/** A key that is taken no longer. */
export interface RevokedKey {
  readonly key: StoredKey;
  /** Whether it had ended before, so that nothing was changed. */
  readonly hadEnded: boolean;
}

/** Nothing can take the place of a key that is taken no longer. */
export class EndedKeyError extends Error {
  override readonly name = 'EndedKeyError';

  constructor(keyId: string) {
    super(`The key "${keyId}" has ended, so nothing can take its place; make a new one.`);
  }
}

/**
 * Makes a key of a tenant.
 *
 * @throws RangeError for an end that is past, or beyond a hundred years, and for a name that cannot be shown on one
 * line.
 */
export async function makeKey(
  db: Database,
  tenantId: number,
  { name, kind = 'live', scopes, expiresInDays }: CreateKeyOptions,
): Promise<CreatedKey> {
  const { key, stored } = await addKey(db, tenantId, {
    kind,
    name,
    scopes,
    expiresMs: keyEndMs(expiresInDays),
  });
  return { apiKey: key, key: withoutDigest(stored) };
}

/**
 * Makes a key that takes the place of another: same name, kind and scopes. The old one ends after the overlap, or
 * when it would have ended, if that is earlier. Rotations of one key take turns: of two at once without overlap the
 * second finds the key ended, and with an overlap each makes a key, as one after the other would.
 *
 * @param change - `overlapDays` 0 to 7, where 0 ends the old key at once; `expiresInDays` of the new key, which does not
 *   end where it is left out
 * @returns undefined when the tenant has no such key.
 * @throws RangeError for another overlap or an end that is none; EndedKeyError when the key has ended.
 */
export async function rotateKey(
  db: Database,
  tenantId: number,
  keyId: string,
  { overlapDays, expiresInDays }: KeyRotation,
): Promise<CreatedKey | undefined> {
  const endMs = overlapEndMs(overlapDays);
  const old = await lockKey(db, tenantId, keyId);
  if (!old) return undefined;
  if (hasEnded(old)) throw new EndedKeyError(keyId);
  const { name, kind, scopes } = old;
  const created = await makeKey(db, tenantId, { name, kind, scopes, expiresInDays });
  await expireKey(db, tenantId, keyId, endMs);
  return created;
}

/** Ends a key at once; one that has ended stays as it is. Returns undefined when the tenant has no such key. */
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

/** What of a key may be shown. */
export function withoutDigest(key: KeyRecord | StoredKey): StoredKey {
  const { id, kind, name, scopes, createdMs, expiresMs, lastUsedMs } = key;
  return { id, kind, name, scopes, createdMs, expiresMs, lastUsedMs };
}
