import { type DecisionParts, decideAction } from '../guardian/decide-action.ts';
import { pendingActionView } from '../guardian/pending-action-view.ts';
import { type Cursors, readCreatedPage } from '../http/page.ts';
import type { ReadRoute, WriteRoute } from '../http/route.ts';
import { validationError } from '../lib/api-error.ts';
import { listPendingActions } from '../storage/stores/pending-action-store.ts';
import { type ActorParts, actorOf } from '../tenants/audit-log.ts';

/** Route `GET /v1/guardian/pending-actions`. */
export function listPendingActionsRoute({
  cursors,
}: {
  readonly cursors: Cursors;
}): ReadRoute<'guardian.pendingActions.list'> {
  return {
    kind: 'read',
    async handle({ caller: { tenantId }, query, receivedMs }, db) {
      const filters = { ...query, status: query.status ?? ('pending' as const) };
      const { rows, nextCursor } = await readCreatedPage(
        cursors,
        { tenantId, endpoint: 'guardian.pendingActions.list', filters },
        query,
        (page) =>
          listPendingActions(db, {
            tenantId,
            status: filters.status,
            agentId: query.agentId,
            sessionId: query.sessionId,
            nowMs: receivedMs,
            ...page,
          }),
      );
      return { items: rows.map((row) => pendingActionView(row, receivedMs)), nextCursor };
    },
  };
}

/** Route `POST /v1/guardian/pending-actions/:id/decide`. Exactly one of racing decisions ends the action. */
export function decidePendingAction(
  parts: DecisionParts & ActorParts,
): WriteRoute<'guardian.pendingActions.decide'> {
  return {
    kind: 'write',
    handle: (call, write) => {
      if (call.protoKeysRemoved) throw validationError('', 'proto_key', 'contains a key named __proto__');
      return decideAction(parts, write, {
        tenantId: call.caller.tenantId,
        actor: actorOf(parts, call),
        id: call.params.id,
        body: call.body,
      });
    },
  };
}
