import { dropEventsWithIds } from './postgres/event-ids.ts';
import { isPostgres } from './postgres/is-postgres.ts';
import { lockSessions } from './session-store.ts';
import type { Database } from './transaction.ts';
import { addUsage } from './usage-store.ts';

const dayMs = 24 * 3_600_000;

/** Sessions that one transaction drops, so that others get their turn. */
const largestSweep = 50;

/** Sessions of all tenants whose last event is older than their tenant keeps. */
export function outdatedSessions(db: Database, nowMs: number): Promise<{ tenant_id: number; id: string }[]> {
  return db
    .selectFrom('sessions')
    .innerJoin('tenants', 'tenants.id', 'sessions.tenant_id')
    .select(['sessions.tenant_id', 'sessions.id'])
    .where('tenants.retention_days', 'is not', null)
    .where((eb) =>
      eb(
        'sessions.received_ms',
        '<',
        eb(eb.lit(nowMs), '-', eb(eb.cast<number>('tenants.retention_days', 'bigint'), '*', eb.lit(dayMs))),
      ),
    )
    .limit(largestSweep)
    .execute();
}

/** Drops those of the sessions that are outdated still, with all that belongs to them. */
export async function dropOutdated(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
  nowMs: number,
): Promise<void> {
  const tenant = await db
    .selectFrom('tenants')
    .select('retention_days')
    .where('id', '=', tenantId)
    .executeTakeFirst();
  if (tenant?.retention_days == null) return;
  const keptFromMs = nowMs - tenant.retention_days * dayMs;
  const dropped: string[] = [];
  // An event may have come in since they were found, and none must while they are dropped.
  for (const { id, received_ms: receivedMs } of (await lockSessions(db, tenantId, sessionIds)).values()) {
    if (receivedMs >= keptFromMs) continue;
    await dropSession(db, tenantId, id);
    dropped.push(id);
  }
  if (dropped.length > 0) await dropEndedActions(db, tenantId, dropped);
  await addUsage(db, tenantId, { events: 0, sessions: -dropped.length }, nowMs, false);
}

/** Drops the actions that were held in sessions, with the arguments that were shown; one that waits still is left. */
async function dropEndedActions(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
): Promise<void> {
  const ended = await db
    .deleteFrom('pending_actions')
    .where('tenant_id', '=', tenantId)
    .where('session_id', 'in', sessionIds)
    .where('status', '!=', 'pending')
    .returning('id')
    .execute();
  if (ended.length === 0) return;
  await db
    .deleteFrom('checked_actions')
    .where('tenant_id', '=', tenantId)
    .where(
      'pending_action_id',
      'in',
      ended.map(({ id }) => id),
    )
    .execute();
}

async function dropSession(db: Database, tenantId: number, id: string): Promise<void> {
  if (isPostgres(db)) await dropEventsWithIds(db, tenantId, id);
  for (const table of ['events', 'session_agents', 'session_risk'] as const) {
    await db.deleteFrom(table).where('tenant_id', '=', tenantId).where('session_id', '=', id).execute();
  }
  await db.deleteFrom('sessions').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
