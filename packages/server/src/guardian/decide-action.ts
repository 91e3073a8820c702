import { randomUUID } from 'node:crypto';
import {
  type Approver,
  type DecisionPayload,
  decideHeld,
  decisionEvent,
  endDecision,
  type GrantRevocationPayload,
  heldOutcome,
  promptPolicyId,
} from '@actlog/policy';
import { type Decide, type SentOf, stringifyExactJson, type WebhookEvent } from '@actlog/protocol';
import { ApiError, notFound, refusalError } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { NewEvent, RecordedEvent } from '../storage/event-recording.ts';
import { lockNames } from '../storage/locks.ts';
import type { PolicyDecisionRow } from '../storage/policies/policy-decision-store.ts';
import { notify } from '../storage/storage.ts';
import {
  endPendingAction,
  lockPendingAction,
  type PendingActionEnd,
  type PendingActionRow,
  saveApprovals,
  statusAt,
} from '../storage/stores/pending-action-store.ts';
import { addUsage, type DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Write } from '../storage/transaction.ts';
import { type Change, fieldChanges, type RequestActor, recordChange } from '../tenants/audit-log.ts';
import { createGrant, grantLock } from './approval-grants.ts';
import type { DecisionSignal } from './decision-signal.ts';
import { heldAction, pendingActionView, tooLate } from './pending-action-view.ts';

/** Writes events into their sessions as part of a larger transaction. */
interface SessionEvents {
  write(write: Write, tenantId: number, events: readonly NewEvent[]): Promise<readonly RecordedEvent[]>;
}

/** Parts that {@link recordDecision} uses. */
export interface RecordingParts {
  readonly eventWriter: SessionEvents;
}

/** Queues messages to webhooks in the transaction of their cause. */
export interface MessageQueue {
  queue(write: Write, tenantId: number, ...messages: readonly WebhookEvent[]): Promise<void>;
  /** Lets the messages about a held action that people can see show it as it is now. */
  refresh(write: Write, tenantId: number, actionId: string): Promise<void>;
}

/** End of a held action. */
export interface HeldEnd extends Pick<PolicyDecisionRow, 'decision' | 'decided_by'> {
  readonly tenantId: number;
  readonly heldId: string;
  readonly status: Exclude<PolicyDecisionRow['held_status'], 'pending' | null>;
  readonly endedMs: number;
}

/** Changes the decision about a held action to its outcome. */
interface HeldDecisions {
  endHeld(write: Write, end: HeldEnd): Promise<void>;
}

/** Parts that {@link endAction} uses. */
export interface EndParts extends RecordingParts {
  readonly decisionLog: HeldDecisions;
  readonly outbox: MessageQueue;
  readonly metrics: Metrics;
  /** Wakes the requests that wait for the action. */
  readonly decisions: DecisionSignal;
}

/** Parts that {@link decideAction} uses. */
export interface DecisionParts extends EndParts {
  /** Quotas of the deployment. */
  readonly quotas: DeploymentQuotas;
}

/** An approver's decision about one action of a tenant. */
export interface ActionDecision {
  readonly tenantId: number;
  /** Author of the request, who is the approver. */
  readonly actor: RequestActor;
  /** Id of the held action. */
  readonly id: string;
  readonly body: Pick<Decide, 'decision' | 'comment' | 'grant' | 'changedArguments'>;
}

/**
 * Decides a held action. Of racing decisions, also of other processes, each sees those before it: approvals of several
 * approvers are all counted, and exactly one decision ends the action.
 *
 * @throws ApiError for an unknown action, a late or forbidden decision, or too many grants.
 */
export async function decideAction(
  parts: DecisionParts,
  write: Write,
  { tenantId, actor, id, body }: ActionDecision,
): Promise<SentOf<'guardian.pendingActions.decide'>> {
  if (body.grant) await lockNames(write.db, tenantId, [grantLock]);
  const row = await lockPendingAction(write.db, tenantId, id);
  // Read only now, because the transaction may have waited for the lock.
  const nowMs = Date.now();
  if (!row) throw notFound('pending action');
  const held = pendingActionView(row, nowMs);
  const approver = { key: actor.id, principal: actor.principal, groups: actor.groups };
  const decided = decideHeld(held, body, approver, nowMs);
  if (decided.type === 'refused') throw refusalError(decided.refusal);
  if (decided.type === 'unchanged') return held;
  const next = await apply(parts, write, row, decided, { approver, body, nowMs });
  // The writes may have waited for locks beyond the expiry, and lists already show the action as expired.
  if (!next || statusAt(row, Date.now()) === 'expired') throw tooLate(row, 'expired');
  await recordChange(parts.quotas, write.db, tenantId, actor, decisionChange(row, next));
  return pendingActionView(next, nowMs);
}

/** Withdrawal of an action, by a caller that may act as its agent. */
export interface ActionWithdrawal {
  readonly tenantId: number;
  readonly actor: RequestActor;
  /** Id of the held action. */
  readonly id: string;
}

/**
 * Withdraws an action that only the agent's prompt holds, because a person has decided at the prompt itself. An
 * action that has ended stays as it is, so that a late or repeated withdrawal changes nothing.
 *
 * @throws ApiError for an unknown action, or one that a policy holds.
 */
export async function withdrawAction(
  parts: DecisionParts,
  write: Write,
  { tenantId, actor, id }: ActionWithdrawal,
): Promise<SentOf<'guardian.pendingActions.decide'>> {
  const row = await lockPendingAction(write.db, tenantId, id);
  const nowMs = Date.now();
  if (!row) throw notFound('pending action');
  if (row.policy_id !== promptPolicyId) {
    throw new ApiError(
      'PERMISSION_DENIED',
      'A policy holds this action, so it waits for an approver. Only an action that the prompt of the agent holds can be withdrawn.',
    );
  }
  const end = { ...undecided(row), status: 'withdrawn' as const, expires_ms: nowMs };
  const ended = await endAction(parts, write, row, end, null, nowMs);
  if (!ended) return pendingActionView(row, nowMs);
  const { toolName } = JSON.parse(row.action) as { readonly toolName: string };
  await recordChange(parts.quotas, write.db, tenantId, actor, {
    action: 'held_action.withdrawn',
    target: { id, name: toolName },
    changes: fieldChanges(audited(row), audited(ended), ['status']),
  });
  return pendingActionView(ended, nowMs);
}

/** Returns the columns of an end that nobody decided. */
export function undecided({ approvals }: PendingActionRow) {
  return {
    comment: null,
    decided_by: null,
    decided_principal: null,
    decided_ms: null,
    approvals,
    grant_id: null,
    changes: null,
  };
}

/** Writes the outcome of a decision. Returns the changed action, or `undefined` if it has expired meanwhile. */
async function apply(
  parts: EndParts,
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
  const { changedArguments } = decided;
  const changes = changedArguments === null ? null : (stringifyExactJson(changedArguments) as string);
  if (decided.type === 'counted') {
    if (!(await saveApprovals(write.db, row, { approvals, changes }, nowMs))) return undefined;
    const counted = { ...row, approvals, changes };
    await recordApproverDecision(parts, write, counted, 'partially_approved', approver, nowMs);
    await parts.outbox.refresh(write, row.tenant_id, row.id);
    return counted;
  }
  const { session_id: sessionId } = row;
  const grantId =
    decided.grant && sessionId !== null
      ? await createGrant(
          write.db,
          { ...row, changes, session_id: sessionId },
          decided.grant,
          approver,
          nowMs,
        )
      : null;
  const end = {
    status: decided.status,
    comment: body.comment ?? null,
    decided_by: approver.key,
    decided_principal: approver.principal,
    decided_ms: nowMs,
    approvals,
    grant_id: grantId,
    changes,
  };
  return endAction(parts, write, row, end, approver, nowMs);
}

/**
 * Returns the entry of the audit log for an approver's decision: the status, the number of approvals, the grant and the
 * paths of changed arguments. The action's arguments, changed values and the approver's comment stay with the action.
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
    changes: fieldChanges(audited(before), audited(after), ['status', 'approvals', 'grantId', 'changed']),
  };
}

function audited({ status, approvals, grant_id: grantId, changes }: PendingActionRow) {
  const given = approvals === null ? 0 : (JSON.parse(approvals) as readonly unknown[]).length;
  const changed = changes === null ? null : Object.keys(JSON.parse(changes) as object).join(', ');
  return { status, approvals: given, grantId, changed };
}

/**
 * Ends a held action in one transaction with its consequences: the outcome of its decision, the event in its session
 * and the message to webhooks.
 * After the commit, it wakes the requests that wait for the action.
 *
 * @param approver - the approver whose decision ends it; `null` for an expiry or a withdrawal
 * @returns the ended action, or `undefined` if it had already ended or cannot end this way at this time.
 */
export async function endAction(
  parts: EndParts,
  write: Write,
  row: PendingActionRow,
  end: PendingActionEnd,
  approver: Approver | null,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  if (!(await endPendingAction(write.db, row.tenant_id, row.id, end, nowMs))) return undefined;
  const ended = { ...row, ...end };
  // The decision is about what the agent may run, which are the changed arguments if the approver changed any.
  const { decision, decidedBy } = heldOutcome(heldAction(ended, nowMs), false);
  await parts.decisionLog.endHeld(write, {
    tenantId: row.tenant_id,
    heldId: row.id,
    status: end.status,
    endedMs: end.decided_ms ?? ended.expires_ms,
    decision,
    decided_by: decidedBy,
  });
  await recordApproverDecision(parts, write, ended, end.status, approver, nowMs);
  await addUsage(write.db, row.tenant_id, { heldActions: -1 }, nowMs);
  await parts.outbox.queue(write, row.tenant_id, {
    type: 'guardian.action_decided',
    timestamp: isoTime(nowMs),
    data: pendingActionView(ended, nowMs),
  });
  await notify(write.db, row.id);
  write.afterCommit(() => {
    parts.metrics.heldActionEnded(end.status);
    parts.decisions.wake(row.id);
  });
  return ended;
}

/** Records an approver's decision, or another end of an action, in the session of the action. */
async function recordApproverDecision(
  parts: RecordingParts,
  write: Write,
  row: PendingActionRow,
  decision: Parameters<typeof endDecision>[1],
  approver: Approver | null,
  nowMs: number,
): Promise<void> {
  const view = pendingActionView(row, nowMs);
  const payload = endDecision(view, decision, approver, nowMs - row.created_ms);
  await recordDecision(parts, write, row.tenant_id, view, payload, nowMs);
}

/** Session that a decision is recorded in. */
interface DecisionSession {
  readonly agentId: string;
  /** `null` or `undefined` for an action outside a session; its decision is not recorded in any session. */
  readonly sessionId?: string | null | undefined;
}

/**
 * Records a decision as an event in the session of its action, for the risk engine and for users.
 *
 * @param eventId - set when the same decision may be recorded again, to record it only once
 * @returns `true` if the session did not have this event before.
 */
export async function recordDecision(
  parts: RecordingParts,
  write: Write,
  tenantId: number,
  { agentId, sessionId }: DecisionSession,
  payload: DecisionPayload | GrantRevocationPayload,
  nowMs: number,
  eventId: string = randomUUID(),
): Promise<boolean> {
  if (sessionId == null) return false;
  const event = decisionEvent(eventId, { agentId, sessionId }, payload, nowMs);
  const [recorded] = await parts.eventWriter.write(write, tenantId, [
    { event, sourceMs: nowMs, receivedMs: nowMs, protoKeysRemoved: false },
  ]);
  return recorded?.isNew === true;
}
