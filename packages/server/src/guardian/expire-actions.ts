import type { Services } from '../services.ts';
import { overduePendingActions, type PendingActionRow } from '../storage/stores/pending-action-store.ts';
import type { Write } from '../storage/transaction.ts';
import { endAction } from './end-action.ts';

/** Maximum number of actions that one sweep ends. */
const maxSweptActions = 100;

/**
 * Ends held actions that are past their expiry. Any process can run it; each action ends once. Each has its own
 * transaction, because several in one would lock sessions and agents in an order that other transactions do not follow.
 *
 * @returns the number of actions that this call ended.
 */
export async function expireActions(services: Services, nowMs: number): Promise<number> {
  const overdue = await services.storage.readAcross('sweep', (db) =>
    overduePendingActions(db, nowMs, maxSweptActions),
  );
  let ended = 0;
  for (const row of overdue) {
    const end = await services.storage.write(row.tenant_id, (write) =>
      expireAction(services, write, row, nowMs),
    );
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
  services: Services,
  write: Write,
  row: PendingActionRow,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  const none = { comment: null, decided_by: null, decided_principal: null, decided_ms: null, grant_id: null };
  const end = { status: 'expired' as const, ...none, approvals: row.approvals };
  return endAction(services, write, row, end, null, nowMs);
}
