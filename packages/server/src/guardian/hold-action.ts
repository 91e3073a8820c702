import { heldSizeRefusal, type NewHeldAction } from '@actlog/policy';
import { type PolicyCheck, stringifyExactJson } from '@actlog/protocol';
import { refusalError } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { Metrics } from '../observability/metrics.ts';
import { identityJson, parentsJson } from '../storage/policies/policy-decision-store.ts';
import type { Storage } from '../storage/storage.ts';
import { ActivityChange, addActivity } from '../storage/stores/activity-change.ts';
import {
  insertPendingAction,
  overduePendingActions,
  type PendingActionRow,
} from '../storage/stores/pending-action-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Usage } from '../storage/stores/quota-table.ts';
import type { Write } from '../storage/transaction.ts';
import { requireCountedRoom } from '../tenants/quotas.ts';
import { type EndParts, endAction, type MessageQueue, undecided } from './decide-action.ts';
import { pendingActionView } from './pending-action-view.ts';

/** Name of the lock for transactions that may hold an action, so that quotas are exact. */
export const holdLock = 'quota held actions';

/** Parts that {@link holdAction} uses. */
export interface HoldParts {
  /** Quotas of the deployment. */
  readonly quotas: DeploymentQuotas;
  readonly outbox: MessageQueue;
  readonly metrics: Metrics;
}

/**
 * Stores an action that waits for approval, and notifies webhooks. Call it with {@link holdLock} locked.
 *
 * @returns the changes of the tenant's usage, to be written after the rows of sessions
 * @throws ApiError 413 when the action is too large to be held; QuotaError 429 when the tenant has no quota left.
 */
export async function holdAction(
  parts: HoldParts,
  write: Write,
  tenantId: number,
  { agentId, sessionId }: PolicyCheck,
  digest: string,
  held: NewHeldAction,
): Promise<Partial<Usage>> {
  const action = stringifyExactJson(held.action) as string;
  const bytes = Buffer.byteLength(action);
  const tooLarge = heldSizeRefusal(bytes);
  if (tooLarge) throw refusalError(tooLarge);
  const amounts = { heldActions: 1, heldActionBytes: bytes };
  await requireCountedRoom(write.db, tenantId, amounts, held.createdMs, parts.quotas);
  const row: PendingActionRow = {
    tenant_id: tenantId,
    agent_id: agentId,
    session_id: sessionId ?? null,
    action_digest: digest,
    id: held.id,
    status: 'pending',
    policy_id: held.policyId,
    policy_name: held.policyName,
    action,
    reason: held.reason,
    created_ms: held.createdMs,
    expires_ms: held.expiresMs,
    on_timeout: held.onTimeout,
    comment: null,
    decided_by: null,
    decided_principal: null,
    decided_ms: null,
    single_use: held.singleUse ? 1 : 0,
    used_by: null,
    used_ms: null,
    required_approvers: held.approvals.required,
    not_requester: held.approvals.notRequester ? 1 : 0,
    verified_principal: held.approvals.verifiedPrincipal ? 1 : 0,
    approver_keys: held.approvals.approverKeys && JSON.stringify(held.approvals.approverKeys),
    approver_groups: held.approvals.approverGroups && JSON.stringify(held.approvals.approverGroups),
    approvals: null,
    requested_by: held.requestedBy,
    principal: held.principal,
    subagent: held.subagent,
    parent_agents: parentsJson(held.parentAgentIds),
    identity: identityJson(held.identity),
    traceparent: held.traceparent,
    policies: JSON.stringify(held.policies),
    grant_id: null,
    editable: held.editable.length === 0 ? null : JSON.stringify(held.editable),
    changes: null,
    executed_hash: null,
  };
  await insertPendingAction(write.db, row);
  write.afterCommit(() => parts.metrics.heldAction());
  const activity = new ActivityChange();
  activity.add(held.createdMs, { held_actions: 1 });
  await addActivity(write.db, tenantId, activity, 'requests', held.createdMs);
  await parts.outbox.queue(write, tenantId, {
    type: 'guardian.action_pending',
    timestamp: isoTime(held.createdMs),
    data: pendingActionView(row, held.createdMs),
  });
  return amounts;
}

/** Maximum number of actions that one sweep ends. */
const maxSweptActions = 100;

/**
 * Ends held actions that are past their expiry. Any process can run it; each action ends once. Each has a separate
 * transaction, because several in one would lock sessions and agents in an order that other transactions do not follow.
 *
 * @returns the number of actions that this call ended.
 */
export async function expireActions(
  parts: EndParts & { readonly storage: Storage },
  nowMs: number,
): Promise<number> {
  const overdue = await parts.storage.readAcross('sweep', (db) =>
    overduePendingActions(db, nowMs, maxSweptActions),
  );
  let ended = 0;
  for (const row of overdue) {
    const end = await parts.storage.write(row.tenant_id, (write) => expireAction(parts, write, row, nowMs));
    if (end) ended += 1;
  }
  return ended;
}

/**
 * Ends a held action that is past its expiry. Waits for a decision that is being written.
 *
 * @returns the ended action, or `undefined` if it had already ended.
 */
export function expireAction(
  parts: EndParts,
  write: Write,
  row: PendingActionRow,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  const end = { status: 'expired' as const, ...undecided(row) };
  return endAction(parts, write, row, end, null, nowMs);
}
