import type { Storage } from '../storage/storage.ts';

/** Removes deleted data from the log. A failure is ignored: the cleanup of a server repeats and reports it. */
export async function eraseTraces(storage: Storage): Promise<void> {
  await storage.truncateLog().catch(() => {});
}
