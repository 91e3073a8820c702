import { type Selectable, sql } from 'kysely';
import { isPostgres } from '../postgres/is-postgres.ts';
import type { SessionTable } from '../schema.ts';
import type { Database } from '../transaction.ts';

/** Columns of a session among the riskiest. */
export type RiskiestSession = Pick<
  Selectable<SessionTable>,
  | 'id'
  | 'agent_id'
  | 'started_ms'
  | 'last_event_ms'
  | 'event_count'
  | 'error_count'
  | 'risk_score'
  | 'risk_level'
>;

/** Highest score of the risk engine. */
const highestScore = 100;

/** Sessions that started within a span of time. */
export interface StartedSessions {
  readonly tenantId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** `true` if handled sessions are among them. */
  readonly withHandled: boolean;
  readonly limit: number;
}

/**
 * Returns the sessions with the highest scores, of those that score at least 1, highest first. It reads at most one
 * page of each whole score from the index of sessions by risk, so its cost does not depend on the number of sessions that
 * nobody handled.
 */
export async function riskiestSessions(
  db: Database,
  { tenantId, sinceMs, untilMs, withHandled, limit }: StartedSessions,
): Promise<RiskiestSession[]> {
  const isOpen = withHandled
    ? sql``
    : sql`and not exists (
        select 1 from handled_sessions as handled
        where handled.tenant_id = ${tenantId} and handled.session_id = sessions.id
          and handled.score >= sessions.risk_band
      )`;
  // `risk_band > 0` repeats the condition of the partial index, so that the planner can use the index.
  const runOf = (band: ReturnType<typeof sql>) => sql`
    select id, risk_score, started_ms from sessions
    where tenant_id = ${tenantId} and risk_band = ${band} and risk_band > 0
      and started_ms >= ${sinceMs} and started_ms < ${untilMs} ${isOpen}
    order by started_ms desc, id desc limit ${limit}`;
  const bands = Array.from({ length: highestScore }, (_, index) => index + 1);
  // SQLite has no lateral join, and PostgreSQL would plan each of a hundred subqueries.
  const runs = isPostgres(db)
    ? sql`select run.* from generate_series(1, ${sql.lit(highestScore)}) as band
        cross join lateral (${runOf(sql.ref('band'))}) as run`
    : sql.join(
        bands.map((band) => sql`select * from (${runOf(sql.lit(band))})`),
        sql` union all `,
      );
  const { rows } = await sql<RiskiestSession>`
    select sessions.id, agent_id, sessions.started_ms, last_event_ms, event_count, error_count,
      sessions.risk_score, risk_level
    from (select id from (${runs}) as run order by risk_score desc, started_ms desc, id desc limit ${limit}) as place
    join sessions on sessions.tenant_id = ${tenantId} and sessions.id = place.id
    order by sessions.risk_score desc, sessions.started_ms desc, sessions.id desc
  `.execute(db);
  return rows;
}
