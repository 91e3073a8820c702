import { CompiledQuery, type Selectable } from 'kysely';
import { bulkInsert } from './bulk-insert.ts';
import type { SessionRiskTable } from './schema.ts';
import type { SessionSummary } from './session-store.ts';
import type { Database } from './transaction.ts';

/** What is kept of the risk of one session, or undefined. */
export function findSessionRisk(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<Selectable<SessionRiskTable> | undefined> {
  return db
    .selectFrom('session_risk')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
}

/** Writes what is kept of the risk of sessions. The baseline stays as it was first written. */
export const saveSessionRisks: (
  db: Database,
  rows: readonly Selectable<SessionRiskTable>[],
) => Promise<number> = bulkInsert(
  'session_risk',
  ['tenant_id', 'session_id', 'state', 'baseline'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'session_id'])
        .doUpdateSet((eb) => ({ state: eb.ref('excluded.state') })),
    ),
);

let listedRiskSql: string | undefined;

/** Writes the risk that lists show. The SQL is built once, because a busy second has many sessions. */
export async function updateListedRisks(
  db: Database,
  risks: readonly { readonly tenantId: number; readonly summary: SessionSummary }[],
): Promise<void> {
  if (risks.length === 0) return;
  listedRiskSql ??= db
    .updateTable('sessions')
    .set({ risk_score: 0, risk_level: 'low', risk_arrival: 0 })
    .where('tenant_id', '=', 0)
    .where('id', '=', '')
    .compile().sql;
  const parameters = risks.map(({ tenantId, summary }) => [
    summary.risk_score,
    summary.risk_level,
    summary.risk_arrival,
    tenantId,
    summary.id,
  ]);
  await db.executeQuery(CompiledQuery.raw(listedRiskSql, parameters));
}

/** Sessions whose risk lacks events, as after a crash. */
export function sessionsBehind(db: Database, limit: number): Promise<{ tenant_id: number; id: string }[]> {
  return db
    .selectFrom('sessions')
    .select(['tenant_id', 'id'])
    .whereRef('risk_arrival', '<', 'last_arrival')
    .limit(limit)
    .execute();
}

/** Sessions that no baseline has learned from, and whose last event is older than a moment. */
export function sessionsToLearn(
  db: Database,
  receivedBeforeMs: number,
  limit: number,
): Promise<{ tenant_id: number; id: string; agent_id: string }[]> {
  return db
    .selectFrom('sessions')
    .select(['tenant_id', 'id', 'agent_id'])
    .where('risk_learned', '=', 0)
    .where('received_ms', '<', receivedBeforeMs)
    .limit(limit)
    .execute();
}

/** Marks a session as learned from. */
export async function markLearned(db: Database, tenantId: number, id: string): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ risk_learned: 1 })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** What an agent usually does, or null. */
export async function findBaseline(db: Database, tenantId: number, agentId: string): Promise<string | null> {
  const row = await db
    .selectFrom('agent_baselines')
    .select('baseline')
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  return row?.baseline ?? null;
}

/** Writes what an agent usually does. */
export async function saveBaseline(
  db: Database,
  tenantId: number,
  agentId: string,
  baseline: string,
): Promise<void> {
  await db
    .insertInto('agent_baselines')
    .values({ tenant_id: tenantId, agent_id: agentId, baseline })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'agent_id']).doUpdateSet({ baseline }))
    .execute();
}

/** What is kept of a whole tenant, or undefined. */
export async function findTenantRisk(db: Database, tenantId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('tenant_risk')
    .select('state')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return row?.state;
}

/** Writes what is kept of a whole tenant. */
export async function saveTenantRisk(db: Database, tenantId: number, state: string): Promise<void> {
  await db
    .insertInto('tenant_risk')
    .values({ tenant_id: tenantId, state })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet({ state }))
    .execute();
}
