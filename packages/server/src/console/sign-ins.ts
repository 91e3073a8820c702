import { auditRequest } from '../audit/audit-request.ts';
import { signedOutChange } from '../audit/sign-in-change.ts';
import { requireEveryScope } from '../http/authentication.ts';
import { callerFields } from '../http/caller-fields.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { notFound } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';
import { listSignIns } from '../storage/stores/sign-in-store.ts';

/** Maximum number of sign-ins in the list. */
const maxListed = 1000;

/** Route `GET /console/api/sign-ins`: the people who are signed in, up to 1,000 and a mebibyte of names, newest first. */
export function listSignInsRoute({ storage, users }: Services): ServerRoute {
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
export function endSignInRoute(services: Services): ServerRoute {
  return {
    method: 'DELETE',
    path: '/sign-ins/:id',
    success: 200,
    check: requireEveryScope,
    async handle(call) {
      const { caller, id, log } = call;
      const { isKnown } = await services.users.signIns.end(caller.tenantId, id, (db, row) =>
        auditRequest(services, db, call, signedOutChange(row)),
      );
      if (!isKnown) throw notFound('sign-in');
      log.info({ ...callerFields(caller), signInId: id }, 'sign-in ended');
      return { ended: true };
    },
  };
}
