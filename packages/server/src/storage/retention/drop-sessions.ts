import { dropEventsWithIds } from '../postgres/event-ids.ts';
import { isPostgres } from '../postgres/is-postgres.ts';
import { lockSessions, type SessionSummary } from '../sessions/session-store.ts';
import { addUsage } from '../stores/usage-store.ts';
import type { Database } from '../transaction.ts';

/**
 * Deletes sessions with their events, their risk, and what people found out about them.
 *
 * @param shouldDrop - checked again on each session once it is locked
 * @returns the number of sessions deleted.
 */
export async function dropSessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  nowMs: number,
  shouldDrop: (session: SessionSummary) => boolean = () => true,
): Promise<number> {
  let dropped = 0;
  // Events may have arrived since the sessions were found; the locks keep out further ones.
  for (const session of (await lockSessions(db, tenantId, ids)).values()) {
    if (!shouldDrop(session)) continue;
    await dropSession(db, tenantId, session);
    dropped += 1;
  }
  await addUsage(db, tenantId, { events: 0, sessions: -dropped }, nowMs, false);
  return dropped;
}

async function dropSession(
  db: Database,
  tenantId: number,
  { id, last_arrival: lastArrival }: SessionSummary,
): Promise<void> {
  if (isPostgres(db)) await dropEventsWithIds(db, tenantId, id, lastArrival);
  const tables = [
    'events',
    'session_agents',
    'session_tools',
    'session_risk',
    'call_histories',
    'risk_judgments',
    'handled_sessions',
  ] as const;
  for (const table of tables) {
    await db.deleteFrom(table).where('tenant_id', '=', tenantId).where('session_id', '=', id).execute();
  }
  await db.deleteFrom('sessions').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
