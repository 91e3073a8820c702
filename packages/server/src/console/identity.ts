import { authenticationFailed } from '../http/authentication.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { isoTimeOrNull } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';
import { findKey } from '../storage/stores/key-store.ts';
import { version } from '../version.ts';

/**
 * Route `GET /console/api/identity`: the caller's key and tenant, so that the console offers what the key may do, and the
 * version of the server. Only callers with a key see the version.
 */
export function identityRoute({ storage }: Services): ServerRoute {
  return {
    method: 'GET',
    path: '/identity',
    success: 200,
    // Any key may read its own identity.
    check() {},
    handle: ({ caller: { tenantId, keyId } }) =>
      storage.read(tenantId, async (db) => {
        const key = await findKey(db, keyId);
        const tenant = await db
          .selectFrom('tenants')
          .select('name')
          .where('id', '=', tenantId)
          .executeTakeFirst();
        if (!key || !tenant) throw authenticationFailed();
        return {
          keyId,
          name: key.name,
          kind: key.kind,
          scopes: key.scopes,
          expiresAt: isoTimeOrNull(key.expiresMs),
          tenant: tenant.name,
          serverVersion: version,
        };
      }),
  };
}
