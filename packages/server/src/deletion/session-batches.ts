import { repeat } from '../lib/repeat.ts';
import { expiredSessions, type Retention } from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import type { Database } from '../storage/transaction.ts';

/**
 * Deletes the sessions of a tenant that are past retention, a few per transaction.
 *
 * @param drop - deletes sessions, and returns the number deleted
 * @param signal - stops early when aborted; the rest is deleted next time
 * @returns the number of sessions deleted.
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
    const ids = await storage.read(tenantId, (db) => expiredSessions(db, retention));
    if (ids.length === 0) return false;
    const droppedNow = await storage.write(tenantId, async ({ db }) => {
      const count = await drop(db, ids);
      // Within the transaction, so that no event in between uses a cached session.
      storage.clearSessionCache();
      return count;
    });
    dropped += droppedNow;
    // Zero if the retention was extended meanwhile; the same sessions would be found forever.
    return droppedNow > 0;
  }, signal);
  return dropped;
}
