import { authenticationFailed } from '../http/authentication.ts';
import type { ServerRoute } from '../http/server-route.ts';
import type { Caller, SignedInUser } from '../keys/caller.ts';
import { isoTimeOrNull } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';
import { findKey } from '../storage/stores/key-store.ts';
import type { Database } from '../storage/transaction.ts';
import { version } from '../version.ts';

/**
 * Route `GET /console/api/identity`: the caller and its tenant, so that the console offers what the caller may do, and the
 * version of the server. A person also gets the CSRF token, which no other site can read. Only callers see the version.
 *
 * @param canProxySignOut - `true` if the page knows where people sign out of a trusted proxy
 */
export function identityRoute({ storage }: Services, canProxySignOut: boolean): ServerRoute {
  return {
    method: 'GET',
    path: '/identity',
    success: 200,
    // Any caller may read its own identity.
    check() {},
    handle: ({ caller }) =>
      storage.read(caller.tenantId, async (db) => {
        const tenant = await db
          .selectFrom('tenants')
          .select('name')
          .where('id', '=', caller.tenantId)
          .executeTakeFirst();
        const identity = caller.user
          ? userIdentity(caller, caller.user, canProxySignOut)
          : await keyIdentity(db, caller);
        if (!tenant || !identity) throw authenticationFailed();
        return { id: caller.id, ...identity, tenant: tenant.name, serverVersion: version };
      }),
  };
}

async function keyIdentity(db: Database, { keyId }: Caller): Promise<object | undefined> {
  const key = keyId === undefined ? undefined : await findKey(db, keyId);
  if (!key) return undefined;
  const { name, kind, scopes, expiresMs } = key;
  return { keyId, name, kind, scopes, expiresAt: isoTimeOrNull(expiresMs) };
}

function userIdentity(
  { scopes }: Caller,
  { name, role, csrfToken, signIn }: SignedInUser,
  canProxySignOut: boolean,
): object {
  return {
    name,
    role,
    scopes: [...scopes],
    csrfToken,
    canSignOut: signIn !== undefined || canProxySignOut,
    expiresAt: isoTimeOrNull(signIn?.expiresMs ?? null),
  };
}
