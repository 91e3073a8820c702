import { authenticationFailed, requireEveryScope } from '../http/request-gate.ts';
import { callerFields } from '../http/request-input.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { notFound } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { version } from '../lib/version.ts';
import type { Storage } from '../storage/storage.ts';
import { findKey } from '../storage/stores/key-store.ts';
import { dropPerson } from '../storage/stores/people-store.ts';
import { listSignIns } from '../storage/stores/sign-in-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuditParts, auditRequest, signedOutChange } from '../tenants/audit-log.ts';
import type { Caller, SignedInUser } from '../tenants/caller.ts';
import type { Users } from '../users/users.ts';

/** Parts of {@link endSignInRoute}. */
export interface SignOutParts extends AuditParts {
  /** People who sign in. */
  readonly users: Users;
}

/** Maximum number of sign-ins in the list. */
const maxListed = 1000;

/** Route `GET /console/api/sign-ins`: the people who are signed in, up to 1,000 and a mebibyte of names, newest first. */
export function listSignInsRoute({
  storage,
  users,
}: {
  readonly storage: Storage;
  readonly users: Users;
}): ServerRoute {
  return {
    method: 'GET',
    path: '/sign-ins',
    success: 200,
    check: requireEveryScope,
    async handle({ caller: { tenantId, user } }) {
      const { idleMs } = users.signIns.lifetimes;
      const { rows, hasMore } = await storage.read(tenantId, (db) =>
        listSignIns(db, { tenantId, nowMs: Date.now(), idleMs, limit: maxListed }),
      );
      return {
        items: rows.map((row) => ({
          id: row.id,
          userId: row.user_id,
          name: row.name,
          role: row.role,
          createdAt: isoTime(row.created_ms),
          lastUsedAt: isoTime(row.last_used_ms),
          expiresAt: isoTime(row.expires_ms),
          current: row.id === user?.signIn?.id,
        })),
        hasMore,
      };
    },
  };
}

/** Route `DELETE /console/api/sign-ins/:id`: signs a person out, in other processes within a second. */
export function endSignInRoute(parts: SignOutParts): ServerRoute {
  return {
    method: 'DELETE',
    path: '/sign-ins/:id',
    success: 200,
    check: requireEveryScope,
    async handle(call) {
      const { caller, id, log } = call;
      const { isKnown } = await parts.users.signIns.end(caller.tenantId, id, async (db, row) => {
        // Their role and groups no longer count in channels either, until they sign in again.
        await dropPerson(db, caller.tenantId, row.user_id);
        await auditRequest(parts, db, call, signedOutChange(row));
      });
      if (!isKnown) throw notFound('sign-in');
      log.info({ ...callerFields(caller), signInId: id }, 'sign-in ended');
      return { ended: true };
    },
  };
}

/**
 * Route `GET /console/api/identity`: the caller and its tenant, so that the console offers what the caller may do, and the
 * version of the server. A person also gets the CSRF token, which no other site can read. Only callers see the version.
 *
 * @param canProxySignOut - `true` if the page knows where people sign out of a trusted proxy
 */
export function identityRoute(
  { storage }: { readonly storage: Storage },
  canProxySignOut: boolean,
  traceUrl?: string | undefined,
): ServerRoute {
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
        return {
          id: caller.id,
          ...identity,
          tenant: tenant.name,
          serverVersion: version,
          ...(traceUrl && { traceUrl }),
        };
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
