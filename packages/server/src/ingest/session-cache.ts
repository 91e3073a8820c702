import { keepNewest } from '../lib/keep-newest.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';

/** Maximum number of cached sessions. */
const maxSessions = 4096;

/**
 * Cache of the summaries of recently written sessions, so that the next event of a session needs no read. Its user must
 * know of every other write to sessions, and clear the cache after it.
 */
export class SessionCache {
  readonly #summaries = new Map<string, SessionSummary>();

  /** Returns the summary that was last put, or `undefined` if it is not cached. */
  get(tenantId: number, id: string): SessionSummary | undefined {
    return this.#summaries.get(`${tenantId} ${id}`);
  }

  /** Caches a summary that is about to be committed. After a failed commit the cache must be cleared. */
  put(tenantId: number, summary: SessionSummary): void {
    keepNewest(this.#summaries, `${tenantId} ${summary.id}`, summary, maxSessions);
  }

  clear(): void {
    this.#summaries.clear();
  }
}
