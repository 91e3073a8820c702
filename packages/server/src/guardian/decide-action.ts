import { type Approver, decideHeld } from '@actlog/policy';
import type { Decide, SentOf } from '@actlog/protocol';
import type { RequestActor } from '../audit/actor.ts';
import { fieldChanges } from '../audit/field-changes.ts';
import { type Change, recordChange } from '../audit/record-change.ts';
import { notFound, refusalError } from '../lib/api-error.ts';
import type { Services } from '../services.ts';
import { lockNames } from '../storage/locks.ts';
import { saveApprovals } from '../storage/stores/pending-action-changes.ts';
import {
  lockPendingAction,
  type PendingActionRow,
  statusAt,
} from '../storage/stores/pending-action-store.ts';
import type { Write } from '../storage/transaction.ts';
import { createGrant, grantLock } from './approval-grants.ts';
import { endAction, recordApproverDecision } from './end-action.ts';
import { pendingActionView, tooLate } from './pending-action-view.ts';

/** An approver's decision about one action of a tenant. */
export interface ActionDecision {
  readonly tenantId: number;
  /** Author of the request, who is the approver. */
  readonly actor: RequestActor;
  /** Id of the held action. */
  readonly id: string;
  readonly body: Pick<Decide, 'decision' | 'comment' | 'grant'>;
}

/**
 * Decides a held action. Of racing decisions, also of other processes, each sees those before it: approvals of several
 * approvers are all counted, and exactly one decision ends the action.
 *
 * @throws ApiError for an unknown action, a late or forbidden decision, or too many grants.
 */
export async function decideAction(
  services: Services,
  write: Write,
  { tenantId, actor, id, body }: ActionDecision,
): Promise<SentOf<'guardian.pendingActions.decide'>> {
  if (body.grant) await lockNames(write.db, tenantId, [grantLock]);
  const row = await lockPendingAction(write.db, tenantId, id);
  // Read only now, because the transaction may have waited for the lock.
  const nowMs = Date.now();
  if (!row) throw notFound('pending action');
  const held = pendingActionView(row, nowMs);
  const approver = { key: actor.id, principal: actor.principal };
  const decided = decideHeld(held, body, approver, nowMs);
  if (decided.type === 'refused') throw refusalError(decided.refusal);
  if (decided.type === 'unchanged') return held;
  const next = await apply(services, write, row, decided, { approver, body, nowMs });
  // The writes may have waited for locks beyond the expiry, and lists already show the action as expired.
  if (!next || statusAt(row, Date.now()) === 'expired') throw tooLate(row, 'expired');
  await recordChange(services.quotas, write.db, tenantId, actor, decisionChange(row, next));
  return pendingActionView(next, nowMs);
}

/** Writes the outcome of a decision. Returns the changed action, or `undefined` if it has expired meanwhile. */
async function apply(
  services: Services,
  write: Write,
  row: PendingActionRow,
  decided: Extract<ReturnType<typeof decideHeld>, { type: 'counted' | 'ended' }>,
  {
    approver,
    body,
    nowMs,
  }: Pick<ActionDecision, 'body'> & { readonly approver: Approver; readonly nowMs: number },
): Promise<PendingActionRow | undefined> {
  const approvals = decided.given.length === 0 ? null : JSON.stringify(decided.given);
  if (decided.type === 'counted') {
    if (!(await saveApprovals(write.db, row, approvals, nowMs))) return undefined;
    const counted = { ...row, approvals };
    await recordApproverDecision(services, write, counted, 'partially_approved', approver, nowMs);
    return counted;
  }
  const { session_id: sessionId } = row;
  const grantId =
    decided.grant && sessionId !== null
      ? await createGrant(write.db, { ...row, session_id: sessionId }, decided.grant, approver, nowMs)
      : null;
  const end = {
    status: decided.status,
    comment: body.comment ?? null,
    decided_by: approver.key,
    decided_principal: approver.principal,
    decided_ms: nowMs,
    approvals,
    grant_id: grantId,
  };
  return endAction(services, write, row, end, approver, nowMs);
}

/**
 * Returns the entry of the audit log for an approver's decision: the status, the number of approvals and the grant. The
 * action's arguments and the approver's comment stay with the action.
 */
function decisionChange(before: PendingActionRow, after: PendingActionRow): Change {
  const { toolName } = JSON.parse(before.action) as { readonly toolName: string };
  const action =
    after.status === 'approved'
      ? 'held_action.approved'
      : after.status === 'denied'
        ? 'held_action.denied'
        : 'held_action.partially_approved';
  return {
    action,
    target: { id: before.id, name: toolName },
    changes: fieldChanges(audited(before), audited(after), ['status', 'approvals', 'grantId']),
  };
}

function audited({ status, approvals, grant_id: grantId }: PendingActionRow) {
  const given = approvals === null ? 0 : (JSON.parse(approvals) as readonly unknown[]).length;
  return { status, approvals: given, grantId };
}
