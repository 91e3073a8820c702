import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/**
 * Indexes for lists of sessions that reach a score: one run of entries per whole score, in the order of the list. They
 * leave out sessions below 1, which are most sessions and in no such list.
 *
 * The update covers rows of all tenants, so row-level security does not bind the owner during it.
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

/** Integer part of every session's score, by which lists find high scores. */
export const riskBands: Migration = {
  name: '0004-risk-bands',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
