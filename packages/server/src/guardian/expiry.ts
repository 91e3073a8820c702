import type { Services } from '../services.ts';
import { overduePendingActions } from '../storage/pending-action-store.ts';
import { endAction } from './end-action.ts';

/** Actions that one transaction ends. */
const largestSweep = 100;

/**
 * Ends the actions whose time is over, in any process; each is ended once.
 *
 * @returns how many this call ended.
 */
export async function expireActions(services: Services, nowMs: number): Promise<number> {
  const overdue = await services.storage.readAll((db) => overduePendingActions(db, nowMs, largestSweep));
  if (overdue.length === 0) return 0;
  return services.storage.writeAll(async (write) => {
    let ended = 0;
    for (const row of overdue) {
      const end = { status: 'expired' as const, comment: null, decided_by: null, decided_ms: null };
      if (await endAction(services, write, row, end, nowMs)) ended += 1;
    }
    return ended;
  });
}
