import { type Actlog, NotFoundError } from '@actlog/client';
import type { Scope } from '@actlog/protocol';

/** The signed-in user: the owner of an API key, or a person. Everything unknown is undefined. */
export interface Identity {
  /** `key_…` for a key, `usr_…` for a person. */
  readonly id: string | undefined;
  readonly keyId: string | undefined;
  readonly name: string | undefined;
  readonly tenant: string | undefined;
  readonly kind: 'live' | 'test' | undefined;
  /** Role of a person. */
  readonly role?: 'viewer' | 'approver' | 'admin' | undefined;
  /** Token for the requests of a person. */
  readonly csrfToken?: string | undefined;
  /** `true` if the page can sign a person out. */
  readonly canSignOut?: boolean | undefined;
  /** Address of a trace, with `{traceId}`; undefined if the deployment names no tracer. */
  readonly traceUrl?: string | undefined;
  readonly scopes: readonly Scope[];
}

const everyScope: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];

/**
 * Reads the signed-in user. If the deployment does not provide this, everything is assumed to be allowed: the
 * deployment itself rejects what is not.
 *
 * @throws ActlogError if the user is rejected or the service does not respond.
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
  return {
    id: undefined,
    keyId: undefined,
    name: undefined,
    tenant: undefined,
    kind: undefined,
    scopes: everyScope,
  };
}

/** `true` if the user has all scopes and may manage keys, on a deployment with key management. */
export function managesKeys(identity: Identity): boolean {
  return hasKnownOwner(identity) && everyScope.every((scope) => may(identity, scope));
}

/**
 * `true` if the deployment provides the signed-in user, and thus the endpoints of the page besides `/v1`.
 */
export function hasKnownOwner({ id }: Identity): boolean {
  return id !== undefined;
}

/** `true` if the user has the scope. */
export function may({ scopes }: Identity, scope: Scope): boolean {
  return scopes.includes(scope);
}

/**
 * `true` if a page may continue with another key: one of the same tenant with at least the same scopes, so that nothing
 * is shown that the key does not permit. The input of a person is for the same person only.
 */
export function mayTakeOver(given: Identity, earlier: Identity): boolean {
  if (given.tenant === undefined || given.tenant !== earlier.tenant) return false;
  if (earlier.role !== undefined && given.id !== earlier.id) return false;
  return earlier.scopes.every((scope) => given.scopes.includes(scope));
}
