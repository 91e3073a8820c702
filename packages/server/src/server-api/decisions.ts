import { requireScope } from '../http/authentication.ts';
import { readPage } from '../http/page.ts';
import type { ServerRoute } from '../http/server-route.ts';
import type { Services } from '../services.ts';
import { listPolicyDecisions } from '../storage/policies/policy-decision-store.ts';
import { decisionView } from './decision-view.ts';
import { decisionsQuery } from './decisions-query.ts';

/** Route `GET /server/v1/decisions`: decisions of the policies, newest first. */
export function decisionsRoute({ storage, cursors }: Services): ServerRoute<typeof decisionsQuery> {
  return {
    method: 'GET',
    path: '/decisions',
    success: 200,
    query: decisionsQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, query }) {
      const { limit: _limit, cursor: _cursor, since, until, ...filters } = query;
      const { rows, nextCursor } = await storage.read(tenantId, (db) =>
        readPage(
          cursors,
          { tenantId, endpoint: 'decisions', filters: query },
          query,
          ({ after, limit }) =>
            listPolicyDecisions(db, {
              tenantId,
              filters: { ...filters, sinceMs: since, untilMs: until },
              afterId: after?.[0] as string | undefined,
              limit,
            }),
          (row) => [row.id],
        ),
      );
      return { items: rows.map((row) => decisionView(row)), nextCursor };
    },
  };
}
