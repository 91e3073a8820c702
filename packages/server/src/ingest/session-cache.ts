import { keepNewest } from '../keep-newest.ts';
import type { SessionSummary } from '../storage/session-store.ts';

/** Sessions kept at hand. */
const keptSessions = 4096;

/**
 * Summaries of sessions that were written lately, so that the next event of a session needs no read. Whoever uses
 * it has to know of every other write to sessions, and to clear it then.
 */
export class SessionCache {
  readonly #kept = new Map<string, SessionSummary>();

  /** The summary as it was last put, or undefined. */
  get(tenantId: number, id: string): SessionSummary | undefined {
    return this.#kept.get(`${tenantId} ${id}`);
  }

  /** Keeps a summary that is about to be committed; a failed commit must clear the cache. */
  put(tenantId: number, summary: SessionSummary): void {
    keepNewest(this.#kept, `${tenantId} ${summary.id}`, summary, keptSessions);
  }

  clear(): void {
    this.#kept.clear();
  }
}
