import { dropEventsWithIds } from './postgres/event-ids.ts';
import { isPostgres } from './postgres/is-postgres.ts';
import { lockSessions, type SessionSummary } from './session-store.ts';
import type { Database } from './transaction.ts';
import { addUsage } from './usage-store.ts';

/** Drops sessions with their events and their risk. Returns how many of them there were, and were to go. */
export async function dropSessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  nowMs: number,
  isToGo: (session: SessionSummary) => boolean = () => true,
): Promise<number> {
  let dropped = 0;
  // An event may have come in since they were found, and none must while they are dropped.
  for (const session of (await lockSessions(db, tenantId, ids)).values()) {
    if (!isToGo(session)) continue;
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
  for (const table of ['events', 'session_agents', 'session_risk'] as const) {
    await db.deleteFrom(table).where('tenant_id', '=', tenantId).where('session_id', '=', id).execute();
  }
  await db.deleteFrom('sessions').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
