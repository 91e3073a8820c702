import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/**
 * Indexes for lists of sessions that reach a score: one run of entries, in the order of the list, for each whole
 * score. Sessions below 1 are most of them, and in no such list.
 *
 * The rows of all tenants are brought up to date, so row-level security does not bind the owner meanwhile.
 */
const ddl = `
alter table sessions
  add column risk_band integer generated always as (floor(risk_score)::integer) stored;
alter table session_agents
  add column risk_score double precision,
  add column risk_band integer generated always as (floor(risk_score)::integer) stored;
alter table sessions no force row level security;
alter table session_agents no force row level security;
update session_agents set risk_score = sessions.risk_score from sessions
  where sessions.tenant_id = session_agents.tenant_id and sessions.id = session_agents.session_id
    and sessions.risk_score is not null;
alter table sessions force row level security;
alter table session_agents force row level security;
create index sessions_by_risk on sessions (tenant_id, risk_band, started_ms, id, risk_score)
  where risk_band > 0;
create index session_agents_by_risk
  on session_agents (tenant_id, agent_id, risk_band, started_ms, session_id, risk_score)
  where risk_band > 0;
`;

/** The whole part of every session's score, by which lists find the few that are high. */
export const riskBands: Migration = {
  name: '0004-risk-bands',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
