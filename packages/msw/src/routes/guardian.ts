import { decideAction, expireActions } from '../policy/pending.ts';
import type { Route } from '../service/call.ts';
import { listName, pageOf, placed } from '../service/page.ts';

/** `GET /v1/guardian/pending-actions`. */
export const listPendingActions: Route<'guardian.pendingActions.list'> = ({ tenant, query, nowMs }) => {
  expireActions(tenant, nowMs);
  const { status = 'pending', agentId, sessionId } = query;
  const matching = placed(tenant.pendingActions.values(), ({ createdAt }) => createdAt).filter(
    ({ row }) =>
      row.status === status &&
      (agentId === undefined || row.agentId === agentId) &&
      (sessionId === undefined || row.sessionId === sessionId),
  );
  const list = listName('guardian.pendingActions.list', { ...query, status });
  const { rows, nextCursor } = pageOf(tenant.cursors, list, query, matching);
  return { items: rows, nextCursor };
};

/** `POST /v1/guardian/pending-actions/:id/decide`. */
export const decidePendingAction: Route<'guardian.pendingActions.decide'> = ({
  tenant,
  keyId,
  params,
  body,
  nowMs,
}) => decideAction(tenant, params.id, body, { key: keyId, principal: null }, nowMs);
