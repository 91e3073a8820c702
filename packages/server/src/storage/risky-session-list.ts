import { type RawBuilder, type Selectable, sql } from 'kysely';
import { isPostgres } from './postgres/is-postgres.ts';
import type { SessionTable } from './schema.ts';
import type { SessionListOptions } from './session-list-options.ts';
import type { Database } from './transaction.ts';

/** The highest score (risk engine). */
const highestScore = 100;

/** The lowest `minRiskScore` for which the indexes by risk have every session. */
export const lowestIndexedScore = 1;

/**
 * Sessions that reach a score, newest first. Each whole score has its run of index entries in the order of the list:
 * of every run as many are read as the page has room for, whether few of a million sessions are so risky or nearly
 * all are.
 */
export function riskySessions(
  db: Database,
  options: SessionListOptions & { readonly minRiskScore: number },
): RawBuilder<Selectable<SessionTable>> {
  const { tenantId, minRiskScore, limit } = options;
  const lowest = Math.floor(minRiskScore);
  const ofBand = runOf(options);
  const bands = Array.from({ length: highestScore - lowest + 1 }, (_, index) => lowest + index);
  // SQLite has no lateral join, and PostgreSQL would plan each of a hundred queries.
  const places = isPostgres(db)
    ? sql`select run.* from generate_series(${lowest}::integer, ${sql.lit(highestScore)}) as band
        cross join lateral (${ofBand(sql.ref('band'))}) as run`
    : sql.join(
        bands.map((band) => sql`select * from (${ofBand(sql.lit(band))})`),
        sql` union all `,
      );
  return sql`
    select sessions.* from (
      select started_ms, id from (${places}) as runs order by started_ms desc, id desc limit ${limit}
    ) as place
    join sessions on sessions.tenant_id = ${tenantId} and sessions.id = place.id
    order by place.started_ms desc, place.id desc
  `;
}

/** The query of one whole score's run. */
function runOf(
  options: SessionListOptions & { readonly minRiskScore: number },
): (band: RawBuilder<unknown>) => RawBuilder<unknown> {
  const { tenantId, agentId, after, startedAfterMs, startedBeforeMs, minRiskScore, limit } = options;
  const [table, idColumn] = agentId === undefined ? ['sessions', 'id'] : ['session_agents', 'session_id'];
  const id = sql.ref(idColumn as string);
  const conditions = [sql`tenant_id = ${tenantId}`];
  if (agentId !== undefined) conditions.push(sql`agent_id = ${agentId}`);
  if (after) conditions.push(sql`(started_ms, ${id}) < (${after.startedMs}, ${after.id})`);
  if (startedAfterMs !== undefined) conditions.push(sql`started_ms > ${startedAfterMs}`);
  if (startedBeforeMs !== undefined) conditions.push(sql`started_ms < ${startedBeforeMs}`);
  if (!Number.isInteger(minRiskScore)) conditions.push(sql`risk_score >= ${minRiskScore}`);
  const where = sql.join(conditions, sql` and `);
  // That the score is above 0 is said in the words of the index, which is how the planner knows it.
  return (band) => sql`
    select started_ms, ${id} as id from ${sql.table(table as string)}
    where ${where} and risk_band = ${band} and risk_band > 0
    order by started_ms desc, ${id} desc limit ${limit}
  `;
}
