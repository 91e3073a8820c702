import { lateDecisionRefusal } from '@actlog/policy';
import { endAction } from '../guardian/end-action.ts';
import { pendingActionView } from '../guardian/pending-action-view.ts';
import { readPage } from '../http/page.ts';
import type { ReadRoute, WriteRoute } from '../http/route.ts';
import { type ApiError, notFound, refusalError } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';
import {
  listPendingActions,
  lockPendingAction,
  type PendingActionRow,
  statusAt,
} from '../storage/stores/pending-action-store.ts';

/** Route `GET /v1/guardian/pending-actions`. */
export function listPendingActionsRoute({ cursors }: Services): ReadRoute<'guardian.pendingActions.list'> {
  return {
    kind: 'read',
    async handle({ caller: { tenantId }, query, receivedMs }, db) {
      const filters = { ...query, status: query.status ?? ('pending' as const) };
      const { rows, nextCursor } = await readPage(
        cursors,
        { tenantId, endpoint: 'guardian.pendingActions.list', filters },
        query,
        ({ after, limit }) =>
          listPendingActions(db, {
            tenantId,
            status: filters.status,
            agentId: query.agentId,
            sessionId: query.sessionId,
            nowMs: receivedMs,
            after: after && { createdMs: after[0] as number, id: after[1] as string },
            limit,
          }),
        (row) => [row.created_ms, row.id],
      );
      return { items: rows.map((row) => pendingActionView(row, receivedMs)), nextCursor };
    },
  };
}

/** Route `POST /v1/guardian/pending-actions/:id/decide`. Of racing decisions exactly one succeeds. */
export function decidePendingAction(services: Services): WriteRoute<'guardian.pendingActions.decide'> {
  return {
    kind: 'write',
    async handle({ caller: { tenantId, keyId }, params, body }, write) {
      const row = await lockPendingAction(write.db, tenantId, params.id);
      // Read only now, because the transaction may have waited for the lock.
      const nowMs = Date.now();
      if (!row) throw notFound('pending action');
      const wanted = body.decision === 'approve' ? 'approved' : 'denied';
      const status = statusAt(row, nowMs);
      if (status === wanted) return pendingActionView(row, nowMs);
      if (status !== 'pending') throw tooLate(row, status);
      const end = {
        status: wanted,
        comment: body.comment ?? null,
        decided_by: `key_${keyId}`,
        decided_ms: nowMs,
      } as const;
      const ended = await endAction(services, write, row, end, nowMs);
      // The writes may have waited for locks beyond the expiry, and lists already show the action as expired.
      if (!ended || statusAt(row, Date.now()) === 'expired') throw tooLate(row, 'expired');
      return pendingActionView(ended, nowMs);
    },
  };
}

function tooLate(row: PendingActionRow, status: PendingActionRow['status']): ApiError {
  return refusalError(lateDecisionRefusal({ status, expiresAt: isoTime(row.expires_ms) }));
}
