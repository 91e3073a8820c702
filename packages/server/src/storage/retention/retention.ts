import { sql } from 'kysely';
import type { Database } from '../transaction.ts';
import { dropSessions, type OldRows, oldRows } from './drop-rows.ts';

const dayMs = 24 * 3_600_000;

/** Maximum sessions and events that one transaction deletes, so that other transactions get their turn. */
const maxSweptSessions = 50;
const maxSweptEvents = 20_000;

/**
 * Sets the days for which a tenant's sessions are kept after their last event; `null` keeps them forever.
 *
 * @returns the former days
 * @throws RangeError unless `days` is a whole number from 1 to 100 years.
 */
export function changeRetention(db: Database, tenantId: number, days: number | null): Promise<number | null> {
  return changeDays(db, tenantId, 'retention_days', days);
}

/**
 * Returns the ids of a tenant's sessions that are past retention, oldest first, up to the limit of one transaction. It
 * returns at least one session if there is any, whatever its number of events, because a session is deleted as a whole.
 */
export async function expiredSessions(
  db: Database,
  { tenantId, keptFromMs }: Omit<Retention, 'days'>,
): Promise<string[]> {
  const sessions = await db
    .selectFrom('sessions')
    .select(['id', 'event_count'])
    .where('tenant_id', '=', tenantId)
    .where('received_ms', '<', keptFromMs)
    .orderBy('received_ms')
    .limit(maxSweptSessions)
    .execute();
  let events = 0;
  const swept = sessions.filter(({ event_count: count }, index) => {
    events += count;
    return index === 0 || events <= maxSweptEvents;
  });
  return swept.map(({ id }) => id);
}

/** Deletes those of the sessions that are still past retention, with all their data. Returns the number deleted. */
export async function dropExpired(
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
  return dropSessions(db, tenantId, sessionIds, nowMs, {
    shouldDrop: (session) => session.received_ms < keptFromMs,
    reason: { by: 'retention', days: tenant.retention_days },
  });
}

/**
 * Sets the days for which decisions of the policies are kept; `null` keeps them forever.
 *
 * @returns the former days
 * @throws RangeError unless `days` is a whole number from 1 to 100 years.
 */
export function changeDecisionRetention(
  db: Database,
  tenantId: number,
  days: number | null,
): Promise<number | null> {
  return changeDays(db, tenantId, 'decision_days', days);
}

/**
 * Sets the days for which entries of the audit log are kept; `null` keeps them forever.
 *
 * @returns the former days
 * @throws RangeError unless `days` is a whole number from 1 to 100 years.
 */
export function changeAuditRetention(
  db: Database,
  tenantId: number,
  days: number | null,
): Promise<number | null> {
  return changeDays(db, tenantId, 'audit_days', days);
}

/** Column of a tenant with the days of a retention. */
type DaysColumn = 'retention_days' | 'decision_days' | 'audit_days';

async function changeDays(
  db: Database,
  tenantId: number,
  column: DaysColumn,
  days: number | null,
): Promise<number | null> {
  requireDays(days);
  const tenant = db.selectFrom('tenants').select(`${column} as days`).where('id', '=', tenantId);
  const { days: before } = await tenant.executeTakeFirstOrThrow();
  await db
    .updateTable('tenants')
    .set({ [column]: days })
    .where('id', '=', tenantId)
    .execute();
  return before;
}

/** @throws RangeError unless `days` is `null` or a whole number from 1 to 100 years. */
function requireDays(days: number | null): void {
  if (days === null || (Number.isInteger(days) && days >= 1 && days <= maxDays)) return;
  throw new RangeError(`Days must be a whole number from 1 to ${maxDays}, not ${days}.`);
}

/** Time from which a tenant's data is kept, in Unix milliseconds. */
export interface Retention {
  readonly tenantId: number;
  readonly keptFromMs: number;
  /** Days for which it is kept. */
  readonly days: number;
}

/** Returns the retention of sessions of each tenant that has one. */
export function retentions(db: Database, nowMs: number): Promise<Retention[]> {
  return retentionsBy(db, 'retention_days', nowMs);
}

/** Returns the retention of decisions of each tenant that has one. */
export function decisionRetentions(db: Database, nowMs: number): Promise<Retention[]> {
  return retentionsBy(db, 'decision_days', nowMs);
}

/** Returns the retention of the audit log of each tenant that has one. */
export function auditRetentions(db: Database, nowMs: number): Promise<Retention[]> {
  return retentionsBy(db, 'audit_days', nowMs);
}

async function retentionsBy(db: Database, column: DaysColumn, nowMs: number): Promise<Retention[]> {
  const tenants = await db
    .selectFrom('tenants')
    .select(['id', `${column} as days`])
    .where(column, 'is not', null)
    .where('deleted_ms', 'is', null)
    .execute();
  return tenants.map(({ id, days }) => ({
    tenantId: id,
    keptFromMs: nowMs - Number(days) * dayMs,
    days: Number(days),
  }));
}

/** Returns the checked actions older than `beforeMs` that refer to a deleted held action. */
export function oldHeldCalls(tenantId: number, beforeMs: number): OldRows {
  return oldRows({
    table: 'checked_actions',
    key: ['tenant_id', 'agent_id', 'action_id'],
    age: 'created_ms',
    beforeMs,
    where: sql`tenant_id = ${tenantId} and pending_action_id is not null and not exists (
      select 1 from pending_actions
      where pending_actions.tenant_id = ${tenantId} and pending_actions.id = checked_actions.pending_action_id
    )`,
  });
}

/** Maximum number of days in any setting: a hundred years. */
export const maxDays = 36_500;
