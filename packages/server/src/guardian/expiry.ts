import type { Services } from '../services.ts';
import { overduePendingActions, type PendingActionRow } from '../storage/pending-action-store.ts';
import type { Write } from '../storage/transaction.ts';
import { endAction } from './end-action.ts';

/** Actions that one transaction ends. */
const largestSweep = 100;

/**
 * Ends the actions whose time is over, in any process; each is ended once.
 *
 * @returns how many this call ended.
 */
export async function expireActions(services: Services, nowMs: number): Promise<number> {
  const overdue = await services.storage.readAcross('sweep', (db) =>
    overduePendingActions(db, nowMs, largestSweep),
  );
  let ended = 0;
  for (const [tenantId, rows] of Map.groupBy(overdue, (row) => row.tenant_id)) {
    ended += await services.storage.write(tenantId, (write) => expireEach(services, write, rows, nowMs));
  }
  return ended;
}

async function expireEach(
  services: Services,
  write: Write,
  rows: readonly PendingActionRow[],
  nowMs: number,
): Promise<number> {
  let ended = 0;
  for (const row of rows) {
    if (await expireAction(services, write, row, nowMs)) ended += 1;
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
