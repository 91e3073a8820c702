import { flag, pageQuery } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { actorOf } from '../audit/actor.ts';
import { auditRequest } from '../audit/audit-request.ts';
import { revokeGrantOf } from '../guardian/revoke-grant.ts';
import { requireScope } from '../http/authentication.ts';
import { readPage } from '../http/page.ts';
import type { ServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';
import { listGrants } from '../storage/stores/approval-grant-store.ts';
import { grantView } from './grant-view.ts';

/** Query of `GET /server/v1/grants`. */
const grantsQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only grants for actions of this agent. */
  agentId: z.string().min(1).optional(),
  /** Only grants for actions of this session. */
  sessionId: z.string().min(1).optional(),
  /** `true` for grants that are neither expired nor revoked, `false` for the others; both if omitted. */
  valid: flag.optional(),
});

/** Route `GET /server/v1/grants`: grants of approvers for later actions, newest first. */
export function grantsRoute({ storage, cursors, policySets }: Services): ServerRoute<typeof grantsQuery> {
  return {
    method: 'GET',
    path: '/grants',
    success: 200,
    query: grantsQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, query }) {
      const { agentId, sessionId, valid: isValid } = query;
      const nowMs = Date.now();
      return storage.read(tenantId, async (db) => {
        const { rows, nextCursor } = await readPage(
          cursors,
          { tenantId, endpoint: 'grants', filters: query },
          query,
          ({ after, limit }) => {
            const filters = { agentId, sessionId, isValid };
            const afterId = after?.[0] as string | undefined;
            return listGrants(db, { tenantId, filters, nowMs, afterId, limit });
          },
          (row) => [row.id],
        );
        const set = await policySets.of(db, tenantId);
        return { items: rows.map((row) => grantView(row, set, nowMs)), nextCursor };
      });
    },
  };
}

/** Route `DELETE /server/v1/grants/:id`: revokes a grant; repeating it has the same response. */
export function revokeGrantRoute(services: Services): ServerRoute {
  return {
    method: 'DELETE',
    path: '/grants/:id',
    success: 200,
    check: (caller) => requireScope(caller, 'decide'),
    async handle(call) {
      const { caller, id, log } = call;
      const { tenantId } = caller;
      const revokedBy = actorOf(services, call);
      const { row, set, isNew } = await services.storage.write(tenantId, async (write) => {
        const revoked = await revokeGrantOf(services, write, { tenantId, id, revokedBy });
        if (revoked.isNew) {
          const target = { id, name: revoked.row.tool_name };
          const changes = [{ field: 'status', before: 'active', after: 'revoked' }];
          await auditRequest(services, write.db, call, { action: 'grant.revoked', target, changes });
        }
        return { ...revoked, set: await services.policySets.of(write.db, tenantId) };
      });
      if (isNew) log.info({ grantId: id }, 'grant revoked');
      return grantView(row, set, Date.now());
    },
  };
}
