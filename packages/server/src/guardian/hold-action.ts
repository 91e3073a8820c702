import { limits, type PolicyCheck } from '@actlog/protocol';
import { ApiError } from '../http/api-error.ts';
import { newIdentifier } from '../identifier.ts';
import { isoTime } from '../iso-time.ts';
import type { FiredPolicy } from '../policy/fired-policy.ts';
import { requireCountedRoom } from '../quota/require-room.ts';
import type { Services } from '../services.ts';
import {
  findSameAction,
  insertPendingAction,
  type PendingActionRow,
} from '../storage/stores/pending-action-store.ts';
import type { Usage } from '../storage/stores/usage-kinds.ts';
import type { Write } from '../storage/transaction.ts';
import { pendingActionView } from './pending-action-view.ts';

/** Approval settings when the policy has none. */
const defaultApproval = { timeoutSeconds: 900, onTimeout: 'deny' } as const;

/** Name of the lock for transactions that may hold an action, so that quotas are exact. */
export const holdLock = 'quota held actions';

/** A held action. */
export interface HeldAction {
  readonly row: PendingActionRow;
  /** `false` if it was already held. */
  readonly isNew: boolean;
  /** Changes of the tenant's usage, to be written after the rows of sessions. */
  readonly amounts: Partial<Usage>;
}

/**
 * Holds an action for approval. Without an `actionId`, an action equals one that is already held if agent, session,
 * tool, arguments and displayed arguments match; otherwise each repeated check would ask an approver again. Call it
 * with {@link holdLock} locked.
 *
 * @param isForOneCall - `true` if an approval lets one call run; an action that is already held is unchanged
 * @throws ApiError 413 when the action is too large to be held; QuotaError 429 when the tenant has no quota left.
 */
export async function holdAction(
  services: Services,
  write: Write,
  tenantId: number,
  body: PolicyCheck,
  digest: string,
  { policy, why }: FiredPolicy,
  isForOneCall: boolean,
  nowMs: number,
): Promise<HeldAction> {
  const wanted = {
    tenant_id: tenantId,
    agent_id: body.agentId,
    session_id: body.sessionId ?? null,
    action_digest: digest,
  };
  if (body.actionId === undefined) {
    const same = await findSameAction(write.db, wanted, nowMs);
    if (same) return { row: same, isNew: false, amounts: {} };
  }
  const action = JSON.stringify(body.action);
  const bytes = Buffer.byteLength(action);
  if (bytes > limits.maxHeldActionBytes) throw tooLarge();
  const amounts = { heldActions: 1, heldActionBytes: bytes };
  await requireCountedRoom(write.db, tenantId, amounts, nowMs, services.quotas);
  const { timeoutSeconds, onTimeout } = policy.definition.approval ?? defaultApproval;
  const row: PendingActionRow = {
    ...wanted,
    id: newIdentifier('pac'),
    status: 'pending',
    policy_id: policy.id,
    action,
    reason: policy.definition.message ?? why,
    created_ms: nowMs,
    expires_ms: nowMs + timeoutSeconds * 1000,
    on_timeout: onTimeout,
    comment: null,
    decided_by: null,
    decided_ms: null,
    single_use: isForOneCall ? 1 : 0,
    used_by: null,
    used_ms: null,
  };
  await insertPendingAction(write.db, row);
  await services.outbox.queue(write, tenantId, {
    type: 'guardian.action_pending',
    timestamp: isoTime(nowMs),
    data: pendingActionView(row, nowMs),
  });
  return { row, isNew: true, amounts };
}

/** Returns the error for an action that is too large. Its arguments are never cut, because approvers must see all. */
function tooLarge(): ApiError {
  const message = 'An action that needs approval may have at most 64 KiB, including its displayed arguments.';
  return new ApiError('PAYLOAD_TOO_LARGE', `${message} Send fewer arguments, or none.`, {
    details: [{ path: 'action.arguments', code: 'too_big', message: 'exceeds 64 KiB for a held action' }],
  });
}
