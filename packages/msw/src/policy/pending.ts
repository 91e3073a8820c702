import { type ActivityEvent, type Decide, type PolicyCheck, schemaVersion } from '@actlog/protocol';
import { v4 } from 'uuid';
import { ApiError, notFound } from '../service/api-error.ts';
import { newId } from '../service/new-id.ts';
import type { PendingActionRecord, PolicyRecord } from '../tenant/records.ts';
import type { Tenant } from '../tenant/tenant.ts';

/** How long an action waits, and how it ends then, where the policy does not say. */
const defaultApproval = { timeoutSeconds: 900, onTimeout: 'deny' } as const;

/** Payload of the event that tells of a decision. */
interface DecisionPayload {
  readonly toolName: string;
  readonly argumentsHash: string;
  /** `deny` and `require_approval` are a policy's word; the others end the waiting. */
  readonly decision: 'deny' | 'require_approval' | PendingActionRecord['status'];
  readonly policyId: string;
  readonly pendingActionId: string | null;
  readonly decidedBy: string | null;
  /** The rate that was exceeded, where that is why: it denies for a while only. */
  readonly rate?: PolicyRecord['rate'];
  readonly heldMs: number;
}

/** Writes a decision into the session of its action, where the risk engine finds it. */
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

/** The same action where it waits already: what its agent did not name is known by agent, session, tool and arguments. */
export function findHeld(
  tenant: Tenant,
  { agentId, sessionId: session, action }: PolicyCheck,
): PendingActionRecord | undefined {
  const sessionId = session ?? null;
  return [...tenant.pendingActions.values()].find(
    (other) =>
      other.status === 'pending' &&
      other.agentId === agentId &&
      other.sessionId === sessionId &&
      other.action.toolName === action.toolName &&
      other.action.argumentsHash === action.argumentsHash,
  );
}

/** Makes an action wait for a person. */
export function holdAction(
  tenant: Tenant,
  { agentId, sessionId: session, action }: PolicyCheck,
  policy: PolicyRecord,
  why: string,
  nowMs: number,
): PendingActionRecord {
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
    decision: null,
  };
  tenant.pendingActions.set(held.id, held);
  recordEnd(tenant, held, 'require_approval', nowMs);
  return held;
}

/** Ends the actions whose time is over. */
export function expireActions(tenant: Tenant, nowMs: number): void {
  for (const action of tenant.pendingActions.values()) {
    if (action.status !== 'pending' || Date.parse(action.expiresAt) > nowMs) continue;
    tenant.pendingActions.set(action.id, { ...action, status: 'expired' });
    recordEnd(tenant, action, 'expired', nowMs);
  }
}

/**
 * Decides an action. The same decision again is answered as the first was.
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
    ? new ApiError('ACTION_EXPIRED', `The time of the action was over at ${expiresAt}.`, { details })
    : new ApiError('ALREADY_DECIDED', `The action is ${status}; a decision is final.`, { details });
}
