import { centuryDays } from '../keys/lifetime.ts';
import { dropEventsWithIds } from './postgres/event-ids.ts';
import { isPostgres } from './postgres/is-postgres.ts';
import { lockSessions, type SessionSummary } from './session-store.ts';
import type { Database } from './transaction.ts';
import { addUsage } from './usage-store.ts';

const dayMs = 24 * 3_600_000;

/** Sessions, and events of them, that one transaction drops, so that others get their turn. */
const largestSweep = 50;
const largestSweepEvents = 20_000;

/**
 * Keeps a tenant's sessions so many days after their last event, or for ever where it is null.
 *
 * @throws RangeError for days that are no whole number from 1 to a hundred years.
 */
export async function changeRetention(db: Database, tenantId: number, days: number | null): Promise<void> {
  if (days !== null && !(Number.isInteger(days) && days >= 1 && days <= centuryDays)) {
    throw new RangeError(`Days must be a whole number from 1 to ${centuryDays}, not ${days}.`);
  }
  await db.updateTable('tenants').set({ retention_days: days }).where('id', '=', tenantId).execute();
}

/**
 * Sessions of all tenants whose last event is older than their tenant keeps, as many as one transaction drops: at least
 * one, because a session goes as a whole.
 */
export async function outdatedSessions(
  db: Database,
  nowMs: number,
): Promise<{ tenant_id: number; id: string }[]> {
  const sessions = await db
    .selectFrom('sessions')
    .innerJoin('tenants', 'tenants.id', 'sessions.tenant_id')
    .select(['sessions.tenant_id', 'sessions.id', 'sessions.event_count'])
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
  let events = 0;
  return sessions.filter(({ event_count: count }, index) => {
    events += count;
    return index === 0 || events <= largestSweepEvents;
  });
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
  let dropped = 0;
  // An event may have come in since they were found, and none must while they are dropped.
  for (const session of (await lockSessions(db, tenantId, sessionIds)).values()) {
    if (session.received_ms >= keptFromMs) continue;
    await dropSession(db, tenantId, session);
    dropped += 1;
  }
  await addUsage(db, tenantId, { events: 0, sessions: -dropped }, nowMs, false);
}

/** The tenants that do not keep everything, and from when on they do. */
export async function retentions(
  db: Database,
  nowMs: number,
): Promise<{ tenantId: number; keptFromMs: number }[]> {
  const tenants = await db
    .selectFrom('tenants')
    .select(['id', 'retention_days'])
    .where('retention_days', 'is not', null)
    .execute();
  return tenants.map(({ id, retention_days: days }) => ({
    tenantId: id,
    keptFromMs: nowMs - Number(days) * dayMs,
  }));
}

/** Drops the actions that were held before a moment, with what was shown of them; one that waits still is left. */
export async function dropEndedActions(db: Database, tenantId: number, beforeMs: number): Promise<void> {
  await db
    .deleteFrom('pending_actions')
    .where('tenant_id', '=', tenantId)
    .where('status', 'in', ['approved', 'denied', 'expired'])
    .where('created_ms', '<', beforeMs)
    .execute();
  await db
    .deleteFrom('checked_actions')
    .where('tenant_id', '=', tenantId)
    .where('created_ms', '<', beforeMs)
    .where('pending_action_id', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('pending_actions')
            .select('id')
            .whereRef('pending_actions.tenant_id', '=', 'checked_actions.tenant_id')
            .whereRef('pending_actions.id', '=', 'checked_actions.pending_action_id'),
        ),
      ),
    )
    .execute();
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
