import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { EventTable, SessionRiskTable } from '../schema.ts';
import { receivedBefore, type SessionSummary } from '../sessions/session-store.ts';
import { bulkInsert, bulkUpdate, type Database, isPostgres, oneOf, preparedQuery } from '../transaction.ts';

const riskOfSession = preparedQuery((db, tenantId: number, sessionId: string) =>
  db
    .selectFrom('session_risk')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId),
);

/** Returns the stored risk of a session, or `undefined` if there is none. */
export async function findSessionRisk(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<Selectable<SessionRiskTable> | undefined> {
  const [row] = await riskOfSession(db, tenantId, sessionId);
  return row;
}

/** Stores the risk of sessions. The baseline and the version of tags keep the values of the first write. */
export const saveSessionRisks: (
  db: Database,
  rows: readonly Selectable<SessionRiskTable>[],
) => Promise<number> = bulkInsert(
  'session_risk',
  ['tenant_id', 'session_id', 'state', 'baseline', 'tags_version'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'session_id'])
        .doUpdateSet((eb) => ({ state: eb.ref('excluded.state') })),
    ),
);

const updateRisks = bulkUpdate('sessions', ['tenant_id', 'id'], ['risk_score', 'risk_level', 'risk_arrival']);

const updateAgentRisks = bulkUpdate('session_agents', ['tenant_id', 'session_id'], ['risk_score']);

/** Risk of a session, to be shown in lists. */
export interface ListedRisk {
  readonly tenantId: number;
  readonly summary: SessionSummary;
  /** `true` if the score changed. */
  readonly scoreChanged: boolean;
}

/** Stores the risk shown in lists, where one process is the only writer. */
export async function updateListedRisks(db: Database, risks: readonly ListedRisk[]): Promise<void> {
  await updateAgentRisks(
    db,
    risks
      .filter(({ scoreChanged }) => scoreChanged)
      .map(({ tenantId, summary: { id, risk_score } }) => ({
        tenant_id: tenantId,
        session_id: id,
        risk_score,
      })),
  );
  await updateRisks(
    db,
    risks.map(({ tenantId, summary }) => ({
      tenant_id: tenantId,
      id: summary.id,
      risk_score: summary.risk_score,
      risk_level: summary.risk_level,
      risk_arrival: summary.risk_arrival,
    })),
  );
}

/** Returns the stored risk of sessions, by session id. */
export async function findSessionRisks(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
): Promise<Map<string, Selectable<SessionRiskTable>>> {
  const rows = await db
    .selectFrom('session_risk')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'session_id', JSON.stringify(sessionIds)))
    .execute();
  return new Map(rows.map((row) => [row.session_id, row]));
}

/** Returns the events of sessions that are not yet part of their stored risk. */
export function unscoredEvents(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
): Promise<Selectable<EventTable>[]> {
  return db
    .selectFrom('sessions')
    .innerJoin('events', (join) =>
      join
        .onRef('events.tenant_id', '=', 'sessions.tenant_id')
        .onRef('events.session_id', '=', 'sessions.id')
        .onRef('events.arrival', '>', 'sessions.risk_arrival')
        .onRef('events.arrival', '<=', 'sessions.last_arrival'),
    )
    .selectAll('events')
    .where('sessions.tenant_id', '=', tenantId)
    .where('events.tenant_id', '=', tenantId)
    .where(oneOf(db, 'sessions.id', JSON.stringify(sessionIds)))
    .execute();
}

/** Returns sessions with unscored events, as after a crash: of one tenant, or of all. */
export function unscoredSessions(
  db: Database,
  limit: number,
  tenantId?: number,
): Promise<{ tenant_id: number; id: string }[]> {
  // Each database has an index for one of the conditions.
  let query = db
    .selectFrom('sessions')
    .select(['tenant_id', 'id'])
    .where('is_unscored', '=', sql.lit(1))
    .whereRef('risk_arrival', '<', 'last_arrival');
  if (tenantId !== undefined) query = query.where('tenant_id', '=', tenantId);
  return query.limit(limit).execute();
}

/** Returns sessions that no baseline has learned from and whose last event is older than `receivedBeforeMs`. */
export function sessionsToLearn(
  db: Database,
  receivedBeforeMs: number,
  limit: number,
): Promise<{ tenant_id: number; id: string; agent_id: string }[]> {
  return db
    .selectFrom('sessions')
    .select(['tenant_id', 'id', 'agent_id'])
    .where('risk_learned', '=', 0)
    .where(receivedBefore(receivedBeforeMs))
    .limit(limit)
    .execute();
}

/** Marks a session as learned from. Of racing calls exactly one returns `true`. */
export async function markLearned(db: Database, tenantId: number, id: string): Promise<boolean> {
  const result = await db
    .updateTable('sessions')
    .set({ risk_learned: 1 })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('risk_learned', '=', 0)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Returns the baselines of agents that have one, by agent id. */
export async function findBaselines(
  db: Database,
  tenantId: number,
  agentIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('agent_baselines')
    .select(['agent_id', 'baseline'])
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'agent_id', JSON.stringify(agentIds)))
    .execute();
  return new Map(rows.map((row) => [row.agent_id, row.baseline]));
}

const baselineOf = preparedQuery((db, tenantId: number, agentId: string) =>
  db
    .selectFrom('agent_baselines')
    .select('baseline')
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId),
);

/** Returns the baseline of an agent, or `null` if there is none. */
export async function findBaseline(db: Database, tenantId: number, agentId: string): Promise<string | null> {
  const [row] = await baselineOf(db, tenantId, agentId);
  return row?.baseline ?? null;
}

/** Stores the baseline of an agent. */
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

/** Returns the stored risk state of a tenant, or `undefined` if there is none. */
export async function findTenantRisk(db: Database, tenantId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('tenant_risk')
    .select('state')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return row?.state;
}

/** Stores the risk state of a tenant, unless the tenant is deleted: its last events may be scored after its deletion. */
export async function saveTenantRisk(db: Database, tenantId: number, state: string): Promise<void> {
  await db
    .insertInto('tenant_risk')
    .columns(['tenant_id', 'state'])
    .expression((eb) =>
      eb
        .selectFrom('tenants')
        .select(['id', eb.val(state).as('state')])
        .where('id', '=', tenantId)
        .where('deleted_ms', 'is', null),
    )
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet({ state }))
    .execute();
}

/** Parts of a time: their starts, in Unix milliseconds, and their length. */
export interface TimesOfScores {
  readonly startsMs: readonly number[];
  readonly lengthMs: number;
}

/** Highest whole score of an agent's sessions that started in a part of a time. */
export interface HighestScore {
  readonly agentId: string;
  readonly startMs: number;
  readonly score: number;
}

/** Highest possible whole score. */
const highestBand = 100;

/**
 * Returns the highest whole scores of sessions that started in parts of a time, for each agent and part; only those of 1 or
 * more. It probes the index of an agent's sessions by score, from the highest one, so its cost does not depend on the
 * number of sessions.
 */
export async function highestScores(
  db: Database,
  tenantId: number,
  agentIds: readonly string[],
  parts: TimesOfScores,
): Promise<HighestScore[]> {
  if (agentIds.length === 0 || parts.startsMs.length === 0) return [];
  const isOnPostgres = isPostgres(db);
  const [names, starts] = [JSON.stringify(agentIds), JSON.stringify(parts.startsMs)];
  const agents = isOnPostgres
    ? sql`select value as agent_id from json_array_elements_text(${names}::json)`
    : sql`select value as agent_id from json_each(${names})`;
  const times = isOnPostgres
    ? sql`select value::bigint as start_ms from json_array_elements_text(${starts}::json)`
    : sql`select value as start_ms from json_each(${starts})`;
  // `risk_band > 0` repeats the condition of the partial index, so that the planner can use the index.
  const ofAgent = sql`acted.tenant_id = ${tenantId} and acted.agent_id = agent.agent_id and acted.risk_band > 0`;
  const bandBelow = (band: RawBuilder<unknown>) => sql`(
    select acted.risk_band from session_agents as acted where ${ofAgent} and acted.risk_band < ${band}
    order by acted.risk_band desc limit 1
  )`;
  // Each step looks into one band, and finds the next one below that has sessions of any time.
  const { rows } = await sql<{ agent_id: string; start_ms: number; score: number | null }>`
    select agent_id, start_ms, (
      with recursive band (next, score, found) as (
        select ${bandBelow(sql.lit(highestBand + 1))}, cast(null as integer), cast(null as integer)
        union all select ${bandBelow(sql`band.next`)}, band.next, (
          select 1 from session_agents as acted where ${ofAgent} and acted.risk_band = band.next
            and acted.started_ms >= part.start_ms and acted.started_ms < part.start_ms + ${sql.lit(parts.lengthMs)}
          limit 1
        ) from band where found is null and band.next is not null
      )
      select score from band where found = 1
    ) as score
    from (${agents}) as agent cross join (${times}) as part
  `.execute(db);
  return rows.flatMap(({ agent_id: agentId, start_ms: startMs, score }) =>
    score === null ? [] : { agentId, startMs: Number(startMs), score: Number(score) },
  );
}
