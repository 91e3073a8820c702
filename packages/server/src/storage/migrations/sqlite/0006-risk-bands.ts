import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/**
 * Indexes for lists of sessions that reach a score: one run of entries per whole score, in the order of the list. They
 * leave out sessions below 1, which are most sessions and in no such list.
 */
const statements = [
  'alter table session_agents add column risk_score double precision',
  'update session_agents set risk_score = (select risk_score from sessions where sessions.tenant_id = session_agents.tenant_id and sessions.id = session_agents.session_id)',
  'alter table sessions add column risk_band integer generated always as (cast(risk_score as integer)) virtual',
  'alter table session_agents add column risk_band integer generated always as (cast(risk_score as integer)) virtual',
  'create index sessions_by_risk on sessions (tenant_id, risk_band, started_ms, id, risk_score) where risk_band > 0',
  'create index session_agents_by_risk on session_agents (tenant_id, agent_id, risk_band, started_ms, session_id, risk_score) where risk_band > 0',
];

/** Integer part of every session's score, by which lists find high scores. */
export const riskBands: Migration = {
  name: '0006-risk-bands',
  async up(db) {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
