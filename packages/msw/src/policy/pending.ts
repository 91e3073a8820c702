import { approvalSubject } from '@actlog/policy';
import { type ActivityEvent, type Decide, limits, type PolicyCheck, schemaVersion } from '@actlog/protocol';
import { v4 } from 'uuid';
import { ApiError, notFound } from '../service/api-error.ts';
import { newId } from '../service/new-id.ts';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/** Default timeout of an approval and its outcome. */
const defaultApproval = { timeoutSeconds: 900, onTimeout: 'deny' } as const;

/** Payload of an event that records a decision. */
interface DecisionPayload {
  readonly toolName: string;
  readonly argumentsHash: string;
  /** `deny` and `require_approval` are decisions of a policy; the others end the wait for approval. */
  readonly decision: 'deny' | 'require_approval' | PendingActionRecord['status'];
  readonly policyId: string;
  readonly pendingActionId: string | null;
  readonly decidedBy: string | null;
  /** Exceeded rate that caused the decision, which then denies only temporarily. */
  readonly rate?: PolicyRecord['rate'];
  readonly heldMs: number;
}

/** Records a decision in the session of its action, where the risk engine reads it. */
export function recordDecision(
  tenant: Tenant,
  { agentId, sessionId }: { readonly agentId: string; readonly sessionId?: string | null | undefined },
  payload: DecisionPayload,
  nowMs: number,
): void {
  if (sessionId == null) return;
  const sourceTimestamp = new Date(nowMs).toISOString();
  const event: ActivityEvent = {
    eventId: v4(),
    agentId,
    sessionId,
    sourceTimestamp,
    category: 'guardian_decision',
    schemaVersion,
    payload: { ...payload } as Record<string, unknown>,
  };
  tenant.record(event, nowMs);
}

/** Finds the same action if it is already held. Without an actionId, the approval's subject identifies it. */
export function findHeld(tenant: Tenant, check: PolicyCheck): PendingActionRecord | undefined {
  const subject = approvalSubject(check);
  return [...tenant.pendingActions.values()].find(
    (other) =>
      other.status === 'pending' && other.agentId === check.agentId && approvalSubject(other) === subject,
  );
}

/**
 * Holds an action for approval; `singleUse` limits the approval to one call. @throws ApiError 413 if the
 * action is too large.
 */
export function holdAction(
  tenant: Tenant,
  { agentId, sessionId: session, action }: PolicyCheck,
  policy: PolicyRecord,
  why: string,
  singleUse: boolean,
  nowMs: number,
): PendingActionRecord {
  if (new TextEncoder().encode(JSON.stringify(action)).length > limits.maxHeldActionBytes) throw tooLarge();
  const sessionId = session ?? null;
  const { timeoutSeconds, onTimeout } = policy.approval ?? defaultApproval;
  const held: PendingActionRecord = {
    id: newId('pac'),
    status: 'pending',
    agentId,
    sessionId,
    policyId: policy.id,
    action,
    reason: policy.message ?? why,
    createdAt: new Date(nowMs).toISOString(),
    expiresAt: new Date(nowMs + timeoutSeconds * 1000).toISOString(),
    onTimeout,
    singleUse,
    usedAt: null,
    decision: null,
  };
  tenant.pendingActions.set(held.id, held);
  recordEnd(tenant, held, 'require_approval', nowMs);
  return held;
}

/** Expires actions whose time is over. */
export function expireActions(tenant: Tenant, nowMs: number): void {
  for (const action of tenant.pendingActions.values()) {
    if (action.status !== 'pending' || Date.parse(action.expiresAt) > nowMs) continue;
    tenant.pendingActions.set(action.id, { ...action, status: 'expired' });
    recordEnd(tenant, action, 'expired', nowMs);
  }
}

/**
 * Decides an action. Repeating the same decision returns the first result.
 *
 * @throws ApiError `NOT_FOUND`, `ALREADY_DECIDED` or `ACTION_EXPIRED`.
 */
export function decideAction(
  tenant: Tenant,
  id: string,
  { decision, comment = null }: Omit<Decide, 'comment'> & { readonly comment?: string | null | undefined },
  decidedBy: string,
  nowMs: number,
): PendingActionRecord {
  expireActions(tenant, nowMs);
  const action = tenant.pendingActions.get(id);
  if (!action) throw notFound('pending action');
  const status = decision === 'approve' ? 'approved' : 'denied';
  if (action.status === status) return action;
  if (action.status !== 'pending') throw tooLate(action);
  const decidedAt = new Date(nowMs).toISOString();
  const decided: PendingActionRecord = {
    ...action,
    status,
    decision: { decision, comment, decidedBy, decidedAt },
  };
  tenant.pendingActions.set(id, decided);
  recordEnd(tenant, decided, status, nowMs);
  tenant.waiting.wake();
  return decided;
}

function recordEnd(
  tenant: Tenant,
  { agentId, sessionId, action, policyId, id, createdAt, decision: given }: PendingActionRecord,
  decision: DecisionPayload['decision'],
  nowMs: number,
): void {
  const { toolName, argumentsHash } = action;
  const heldMs = nowMs - Date.parse(createdAt);
  const decided = { decision, policyId, pendingActionId: id, decidedBy: given?.decidedBy ?? null };
  recordDecision(tenant, { agentId, sessionId }, { toolName, argumentsHash, ...decided, heldMs }, nowMs);
}

function tooLate({ status, expiresAt }: PendingActionRecord): ApiError {
  const details = [{ path: 'status', code: status, message: `The action is ${status}.` }];
  return status === 'expired'
    ? new ApiError('ACTION_EXPIRED', `The action expired at ${expiresAt}.`, { details })
    : new ApiError('ALREADY_DECIDED', `The action is ${status}; a decision is final.`, { details });
}

function tooLarge(): ApiError {
  const message = 'An action that needs approval may have at most 64 KiB, including its displayed arguments.';
  return new ApiError('PAYLOAD_TOO_LARGE', `${message} Send fewer arguments, or none.`, {
    details: [{ path: 'action.arguments', code: 'too_big', message: 'exceeds 64 KiB for a held action' }],
  });
}
