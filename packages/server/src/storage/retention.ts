import { sql } from 'kysely';
import { centuryDays } from '../keys/lifetime.ts';
import { dropSessions } from './drop-sessions.ts';
import { type OldRows, oldRows } from './old-rows.ts';
import type { Database } from './transaction.ts';

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
 * Sessions of a tenant whose last event came before a moment, the oldest first, as many as one transaction drops: at
 * least one, because a session goes as a whole.
 */
export async function outdatedSessions(db: Database, { tenantId, keptFromMs }: Retention): Promise<string[]> {
  const sessions = await db
    .selectFrom('sessions')
    .select(['id', 'event_count'])
    .where('tenant_id', '=', tenantId)
    .where('received_ms', '<', keptFromMs)
    .orderBy('received_ms')
    .limit(largestSweep)
    .execute();
  let events = 0;
  const swept = sessions.filter(({ event_count: count }, index) => {
    events += count;
    return index === 0 || events <= largestSweepEvents;
  });
  return swept.map(({ id }) => id);
}

/** Drops those of the sessions that are outdated still, with all that belongs to them. Returns how many. */
export async function dropOutdated(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
  nowMs: number,
): Promise<number> {
  const tenant = await db
    .selectFrom('tenants')
    .select('retention_days')
    .where('id', '=', tenantId)
    .executeTakeFirst();
  if (tenant?.retention_days == null) return 0;
  const keptFromMs = nowMs - tenant.retention_days * dayMs;
  return dropSessions(db, tenantId, sessionIds, nowMs, (session) => session.received_ms < keptFromMs);
}

/** From when on a tenant keeps what it has. */
export interface Retention {
  readonly tenantId: number;
  readonly keptFromMs: number;
}

/** The tenants that do not keep everything. */
export async function retentions(db: Database, nowMs: number): Promise<Retention[]> {
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

/** The actions of a tenant that were held before a moment, with what was shown of them; one that waits still is none. */
export function oldHeldActions(tenantId: number, beforeMs: number): OldRows[] {
  return [
    oldRows({
      table: 'pending_actions',
      key: ['tenant_id', 'id'],
      age: 'created_ms',
      beforeMs,
      where: sql`tenant_id = ${tenantId} and status in ('approved', 'denied', 'expired')`,
    }),
    oldRows({
      table: 'checked_actions',
      key: ['tenant_id', 'agent_id', 'action_id'],
      age: 'created_ms',
      beforeMs,
      where: sql`tenant_id = ${tenantId} and pending_action_id is not null and not exists (
        select 1 from pending_actions
        where pending_actions.tenant_id = ${tenantId} and pending_actions.id = checked_actions.pending_action_id
      )`,
    }),
  ];
}
