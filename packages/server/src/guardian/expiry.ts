import type { Services } from '../services.ts';
import { overduePendingActions, type PendingActionRow } from '../storage/pending-action-store.ts';
import type { Write } from '../storage/transaction.ts';
import { endAction } from './end-action.ts';

/** Actions that one sweep ends. */
const largestSweep = 100;

/**
 * Ends the actions whose time is over, in any process; each is ended once. Each has a transaction of its own: several
 * in one would lock the rows of their sessions and agents in an order that no other transaction keeps to.
 *
 * @returns how many this call ended.
 */
export async function expireActions(services: Services, nowMs: number): Promise<number> {
  const overdue = await services.storage.readAcross('sweep', (db) =>
    overduePendingActions(db, nowMs, largestSweep),
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
 * Ends an action whose time is over. It waits for a decision that is being written at the moment.
 *
 * @returns the ended action, or undefined when it had ended before.
 */
export function expireAction(
  services: Services,
  write: Write,
  row: PendingActionRow,
  nowMs: number,
): Promise<PendingActionRow | undefined> {
  const end = { status: 'expired' as const, comment: null, decided_by: null, decided_ms: null };
  return endAction(services, write, row, end, nowMs);
}
