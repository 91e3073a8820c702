import { repeat } from '../repeat.ts';
import { outdatedSessions, type Retention } from '../storage/retention.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';

/**
 * Drops the sessions of a tenant that it does not keep, a few a transaction.
 *
 * @param drop - drops sessions, and returns how many of them were still to go
 * @param signal - aborts to have the rest left for another time
 * @returns how many were dropped.
 */
export async function dropInBatches(
  storage: Storage,
  retention: Retention,
  drop: (db: Database, ids: readonly string[]) => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  const { tenantId } = retention;
  let dropped = 0;
  await repeat(async () => {
    const ids = await storage.read(tenantId, (db) => outdatedSessions(db, retention));
    if (ids.length === 0) return false;
    const droppedNow = await storage.write(tenantId, async ({ db }) => {
      const count = await drop(db, ids);
      // Within the transaction, so that no event can come in between that counts on a dropped session.
      storage.forgetSessions();
      return count;
    });
    dropped += droppedNow;
    // None, where the tenant keeps them longer by now: they would be found again for ever.
    return droppedNow > 0;
  }, signal);
  return dropped;
}
