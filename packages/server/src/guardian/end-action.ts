import { type Approver, endDecision, heldOutcome } from '@actlog/policy';
import { isoTime } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';
import { notify } from '../storage/notification.ts';
import { endPendingAction, type PendingActionEnd } from '../storage/stores/pending-action-changes.ts';
import type { PendingActionRow } from '../storage/stores/pending-action-store.ts';
import { addUsage } from '../storage/stores/usage-store.ts';
import type { Write } from '../storage/transaction.ts';
import { recordDecision } from './decision-event.ts';
import { heldAction, pendingActionView } from './pending-action-view.ts';

/**
 * Ends a held action in one transaction with its consequences: the outcome of its decision, the event in its session
 * and the message to webhooks.
 * After the commit, it wakes the requests that wait for the action.
 *
 * @param approver - the approver whose decision ends it; `null` for an expiry
 * @returns the ended action, or `undefined` if it had already ended or cannot end this way at this time.
 */
export async function endAction(
  services: Services,
  write: Write,
  row: PendingActionRow,
  end: PendingActionEnd,
  approver: Approver | null,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  if (!(await endPendingAction(write.db, row.tenant_id, row.id, end, nowMs))) return undefined;
  const ended = { ...row, ...end };
  const { decision, decidedBy } = heldOutcome(heldAction(ended, nowMs));
  await services.decisionLog.endHeld(write, {
    tenantId: row.tenant_id,
    heldId: row.id,
    status: end.status,
    endedMs: end.decided_ms ?? row.expires_ms,
    decision,
    decided_by: decidedBy,
  });
  await recordApproverDecision(services, write, ended, end.status, approver, nowMs);
  await addUsage(write.db, row.tenant_id, { heldActions: -1 }, nowMs);
  await services.outbox.queue(write, row.tenant_id, {
    type: 'guardian.action_decided',
    timestamp: isoTime(nowMs),
    data: pendingActionView(ended, nowMs),
  });
  await notify(write.db, row.id);
  write.afterCommit(() => {
    services.metrics.heldActionEnded(end.status);
    services.decisions.wake(row.id);
  });
  return ended;
}

/** Records an approver's decision, or the expiry of an action, in the session of the action. */
export async function recordApproverDecision(
  services: Services,
  write: Write,
  row: PendingActionRow,
  decision: Parameters<typeof endDecision>[1],
  approver: Approver | null,
  nowMs: number,
): Promise<void> {
  const view = pendingActionView(row, nowMs);
  const payload = endDecision(view, decision, approver, nowMs - row.created_ms);
  await recordDecision(services, write, row.tenant_id, view, payload, nowMs);
}
