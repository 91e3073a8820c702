import { type Actlog, NotFoundError } from '@actlog/client';
import type { Scope } from '@actlog/protocol';

/** Owner of the API key. */
export interface Identity {
  readonly keyId: string | undefined;
  readonly name: string | undefined;
  readonly tenant: string | undefined;
  readonly kind: 'live' | 'test' | undefined;
  readonly scopes: readonly Scope[];
}

const everyScope: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];

/**
 * Reads the owner of the key. If the deployment does not provide this, everything is assumed to be allowed: the
 * deployment itself rejects what is not.
 *
 * @throws ActlogError if the key is rejected or the service does not respond.
 */
export async function readIdentity(client: Actlog): Promise<Identity> {
  try {
    const identity = await client.request<Partial<Identity> | undefined>('GET', '/console/api/identity');
    // A server that returns a page for every unknown path also returns one here.
    if (Array.isArray(identity?.scopes)) return identity as Identity;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  await client.sessions.list({ limit: 1 });
  return { keyId: undefined, name: undefined, tenant: undefined, kind: undefined, scopes: everyScope };
}

/** `true` if the key has all scopes and may manage keys, on a deployment with key management. */
export function managesKeys(identity: Identity): boolean {
  return hasKnownOwner(identity) && everyScope.every((scope) => may(identity, scope));
}

/**
 * `true` if the deployment provides the owner of the key, and thus the page's own endpoints besides `/v1`.
 */
export function hasKnownOwner({ keyId }: Identity): boolean {
  return keyId !== undefined;
}

/** `true` if the key has the scope. */
export function may({ scopes }: Identity, scope: Scope): boolean {
  return scopes.includes(scope);
}

/**
 * `true` if a page may continue with another key: one of the same tenant with at least the same scopes, so that nothing
 * is shown that the key does not permit.
 */
export function mayTakeOver(given: Identity, earlier: Identity): boolean {
  if (given.tenant === undefined || given.tenant !== earlier.tenant) return false;
  return earlier.scopes.every((scope) => given.scopes.includes(scope));
}
