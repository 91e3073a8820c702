import type { PolicyCheck } from '@actlog/protocol';
import { newIdentifier } from '../identifier.ts';
import { isoTime } from '../iso-time.ts';
import type { FiredPolicy } from '../policy/fired-policy.ts';
import type { Services } from '../services.ts';
import {
  findSameAction,
  insertPendingAction,
  type PendingActionRow,
} from '../storage/pending-action-store.ts';
import type { Write } from '../storage/transaction.ts';
import { pendingActionView } from './pending-action-view.ts';

/** How long an action waits, and how it ends then, when the policy does not say. */
const defaultApproval = { timeoutSeconds: 900, onTimeout: 'deny' } as const;

/**
 * Makes an action wait for a person. An action that its agent did not name is the same as one that waits already
 * when agent, session, tool and arguments are: else every repeated check would ask a person again.
 */
export async function holdAction(
  services: Services,
  write: Write,
  tenantId: number,
  body: PolicyCheck,
  digest: string,
  { policy, why }: FiredPolicy,
  nowMs: number,
): Promise<{ readonly row: PendingActionRow; readonly isNew: boolean }> {
  const wanted = {
    tenant_id: tenantId,
    agent_id: body.agentId,
    session_id: body.sessionId ?? null,
    action_digest: digest,
  };
  if (body.actionId === undefined) {
    const same = await findSameAction(write.db, wanted, nowMs);
    if (same) return { row: same, isNew: false };
  }
  const { timeoutSeconds, onTimeout } = policy.definition.approval ?? defaultApproval;
  const row: PendingActionRow = {
    ...wanted,
    id: newIdentifier('pac'),
    status: 'pending',
    policy_id: policy.id,
    action: JSON.stringify(body.action),
    reason: policy.definition.message ?? why,
    created_ms: nowMs,
    expires_ms: nowMs + timeoutSeconds * 1000,
    on_timeout: onTimeout,
    comment: null,
    decided_by: null,
    decided_ms: null,
  };
  await insertPendingAction(write.db, row);
  await services.outbox.queue(write, tenantId, {
    type: 'guardian.action_pending',
    timestamp: isoTime(nowMs),
    data: pendingActionView(row, nowMs),
  });
  return { row, isNew: true };
}
