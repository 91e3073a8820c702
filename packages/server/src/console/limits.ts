import { readQuotaUsage } from '../administration/quota-usage.ts';
import { authenticationFailed, requireScope } from '../http/authentication.ts';
import type { ServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';

/** Route `GET /console/api/limits`: the tenant's retention, its use of each quota, and the spans that were not
 * understood since the server started, for `actlog doctor`. */
export function limitsRoute({ storage, quotas, unreadSpans }: Services): ServerRoute {
  return {
    method: 'GET',
    path: '/limits',
    success: 200,
    check: (caller) => requireScope(caller, 'read'),
    handle: ({ caller: { tenantId } }) =>
      storage.read(tenantId, async (db) => {
        const tenant = await db
          .selectFrom('tenants')
          .select('retention_days')
          .where('id', '=', tenantId)
          .executeTakeFirst();
        if (!tenant) throw authenticationFailed();
        return {
          retentionDays: tenant.retention_days,
          quotas: await readQuotaUsage(db, tenantId, quotas, Date.now()),
          unreadSpans: unreadSpans.list(tenantId),
        };
      }),
  };
}
