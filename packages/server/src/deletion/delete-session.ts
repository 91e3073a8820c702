import { forgetAnswers } from '../http/idempotency.ts';
import { deliveriesAbout, dropDeliveries } from '../storage/delivery-store.ts';
import { dropSessions } from '../storage/drop-sessions.ts';
import { dropPendingActions, isOverdue, lockActionsOf } from '../storage/pending-action-store.ts';
import type { Storage } from '../storage/storage.ts';

/** What came of it: the session is gone, somebody has to decide first about an action of it, or there is none. */
export type SessionDeletion = 'deleted' | 'waiting' | 'unknown';

/**
 * Deletes a session for good: its events and its risk, its held actions with what was shown of them, and the messages
 * to webhooks about it. An action that waits is left to wait, and the session with it: its agent would ask anew.
 */
export async function deleteSession(
  storage: Storage,
  tenantId: number,
  id: string,
  nowMs: number,
): Promise<SessionDeletion> {
  // Looking through all messages takes a while, in which others must not wait.
  const messages = await storage.read(tenantId, (db) => deliveriesAbout(db, tenantId, id));
  return storage.write(tenantId, async ({ db }) => {
    const actions = await lockActionsOf(db, tenantId, id);
    if (actions.some((row) => row.status === 'pending' && !isOverdue(row, nowMs))) return 'waiting';
    const dropped = await dropSessions(db, tenantId, [id], nowMs);
    // Within the transaction, so that no event can come in between that counts on the session.
    storage.forgetSessions();
    await dropPendingActions(
      db,
      tenantId,
      actions.map((row) => row.id),
    );
    await forgetAnswers(db, tenantId, 'guardian.pendingActions.decide');
    await dropDeliveries(db, tenantId, messages);
    return dropped + actions.length > 0 ? 'deleted' : 'unknown';
  });
}
