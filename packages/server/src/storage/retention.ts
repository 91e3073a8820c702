import type { Database } from './transaction.ts';

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
        eb(eb.lit(nowMs), '-', eb('tenants.retention_days', '*', eb.lit(dayMs))),
      ),
    )
    .limit(largestSweep)
    .execute();
}

/** Drops a session with all that belongs to it. */
export async function dropSession(db: Database, tenantId: number, id: string): Promise<void> {
  for (const table of ['events', 'session_agents', 'session_risk'] as const) {
    await db.deleteFrom(table).where('tenant_id', '=', tenantId).where('session_id', '=', id).execute();
  }
  await db.deleteFrom('sessions').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
