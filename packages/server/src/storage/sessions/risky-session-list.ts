import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely';
import { isPostgres } from '../postgres/is-postgres.ts';
import type { Database } from '../transaction.ts';
import type { SessionListOptions } from './session-list-options.ts';

/** Highest score of the risk engine. */
const highestScore = 100;

/** Lowest `minRiskScore` for which the indexes by risk contain every session. */
export const lowestIndexedScore = 1;

/**
 * Selects sessions that reach a score, newest first. The index has one run of entries for each whole score, in the
 * order of the list. At most one page is read from each run, so the query is fast whether few or nearly all sessions
 * match.
 *
 * @param columns - the columns of `sessions` to select
 */
export function riskySessions<Row>(
  db: Database,
  options: SessionListOptions & { readonly minRiskScore: number },
  columns: RawBuilder<unknown> | AliasedRawBuilder<unknown, string>,
): RawBuilder<Row> {
  const { tenantId, minRiskScore, limit } = options;
  const lowest = Math.floor(minRiskScore);
  const runOfBand = runQuery(options);
  const bands = Array.from({ length: highestScore - lowest + 1 }, (_, index) => lowest + index);
  // SQLite has no lateral join, and PostgreSQL would plan each of a hundred subqueries.
  const places = isPostgres(db)
    ? sql`select run.* from generate_series(${lowest}::integer, ${sql.lit(highestScore)}) as band
        cross join lateral (${runOfBand(sql.ref('band'))}) as run`
    : sql.join(
        bands.map((band) => sql`select * from (${runOfBand(sql.lit(band))})`),
        sql` union all `,
      );
  return sql`
    select ${columns} from (
      select started_ms, id from (${places}) as runs order by started_ms desc, id desc limit ${limit}
    ) as place
    join sessions on sessions.tenant_id = ${tenantId} and sessions.id = place.id
    order by place.started_ms desc, place.id desc
  `;
}

/** Returns the query for the run of one whole score. */
function runQuery(
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
  // `risk_band > 0` repeats the condition of the partial index, so that the planner can use the index.
  return (band) => sql`
    select started_ms, ${id} as id from ${sql.table(table as string)}
    where ${where} and risk_band = ${band} and risk_band > 0
    order by started_ms desc, ${id} desc limit ${limit}
  `;
}
