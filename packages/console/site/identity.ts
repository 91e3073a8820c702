import { type Actlog, NotFoundError } from '@actlog/client';
import type { Scope } from '@actlog/protocol';

/** Whose key the person signed in with. */
export interface Identity {
  readonly keyId: string | undefined;
  readonly name: string | undefined;
  readonly tenant: string | undefined;
  readonly kind: 'live' | 'test' | undefined;
  readonly scopes: readonly Scope[];
}

const everyScope: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];

/**
 * Asks who the key is. A deployment that cannot tell is taken to allow everything: it refuses by itself what it does
 * not allow.
 *
 * @throws ActlogError where the key is refused or the service does not answer.
 */
export async function readIdentity(client: Actlog): Promise<Identity> {
  try {
    const identity = await client.request<Partial<Identity> | undefined>('GET', '/console/api/identity');
    // Where a page is served for every unknown path, this is one.
    if (Array.isArray(identity?.scopes)) return identity as Identity;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  await client.sessions.list({ limit: 1 });
  return { keyId: undefined, name: undefined, tenant: undefined, kind: undefined, scopes: everyScope };
}

/** Whether the key may do all that a key can, and so may manage keys, on a deployment that has keys to manage. */
export function managesKeys(identity: Identity): boolean {
  return isToldOf(identity) && everyScope.every((scope) => may(identity, scope));
}

/** Whether the deployment tells who the key is: one that has what the page needs beside `/v1`. */
export function isToldOf({ keyId }: Identity): boolean {
  return keyId !== undefined;
}

/** Whether the key may do this. */
export function may({ scopes }: Identity, scope: Scope): boolean {
  return scopes.includes(scope);
}

/**
 * Whether a page may go on with another key than it was drawn with: one of the same tenant that may do no less, so that
 * nothing is shown that the key does not open.
 */
export function mayTakeOver(given: Identity, earlier: Identity): boolean {
  if (given.tenant === undefined || given.tenant !== earlier.tenant) return false;
  return earlier.scopes.every((scope) => given.scopes.includes(scope));
}
