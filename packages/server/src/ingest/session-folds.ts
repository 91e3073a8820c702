import type { NewEvent } from '../storage/event-recording.ts';
import { isPostgres } from '../storage/postgres/is-postgres.ts';
import {
  dropEmptySessions,
  lockSessions,
  openSessions,
  type SessionSummary,
} from '../storage/sessions/session-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { SessionCache } from './session-cache.ts';
import { SessionFold } from './session-fold.ts';

/**
 * Returns a fold for each session of the events. Other transactions cannot write these sessions until this one ends.
 */
export async function openFolds(
  db: Database,
  tenantId: number,
  events: readonly NewEvent[],
  cache: SessionCache | undefined,
): Promise<Map<string, SessionFold>> {
  const firsts = new Map<string, NewEvent>();
  for (const incoming of events) {
    if (!firsts.has(incoming.event.sessionId)) firsts.set(incoming.event.sessionId, incoming);
  }
  const stored = await storedSessions(db, tenantId, [...firsts.keys()], cache);
  const folds = new Map([...firsts].map(([id, first]) => [id, new SessionFold(stored.get(id), first)]));
  if (folds.size === stored.size || !isPostgres(db)) return folds;
  const fresh = [...folds.values()].filter(({ isNew }) => isNew).map(({ summary }) => summary);
  for (const [id, summary] of await openSessions(db, tenantId, fresh)) {
    folds.set(id, new SessionFold(summary, firsts.get(id) as NewEvent));
  }
  return folds;
}

/** Deletes sessions that were inserted for events that turned out to be repeats from other sessions. */
export async function dropUnusedSessions(
  db: Database,
  tenantId: number,
  folds: readonly SessionFold[],
  used: ReadonlySet<SessionFold>,
): Promise<void> {
  if (!isPostgres(db)) return;
  const unused = folds.filter((fold) => fold.isNew && !used.has(fold)).map(({ summary }) => summary.id);
  if (unused.length > 0) await dropEmptySessions(db, tenantId, unused);
}

async function storedSessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  cache: SessionCache | undefined,
): Promise<Map<string, SessionSummary>> {
  const found = new Map<string, SessionSummary>();
  const missing: string[] = [];
  for (const id of ids) {
    const cached = cache?.get(tenantId, id);
    if (cached) found.set(id, cached);
    else missing.push(id);
  }
  if (missing.length === 0) return found;
  return new Map([...found, ...(await lockSessions(db, tenantId, missing))]);
}
