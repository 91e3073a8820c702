import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Classes of sessions by their content, each a flag that is set once. */
const flags = ['has_errors', 'has_denials', 'has_holds'];

/**
 * Indexes of lists by risk, by tool, by level and by content. A flag or level that most sessions lack has a partial
 * index, so that an ordinary session costs no entry.
 */
export const searchIndexes: readonly string[] = [
  'create index sessions_by_rank on sessions (tenant_id, risk_rank, started_ms, id)',
  'create index session_agents_by_rank on session_agents (tenant_id, agent_id, risk_rank, started_ms, session_id)',
  "create index sessions_by_level on sessions (tenant_id, risk_level, started_ms, id) where risk_level <> 'low'",
  "create index sessions_by_level_rank on sessions (tenant_id, risk_level, risk_rank, started_ms, id) where risk_level <> 'low'",
  'create index session_tools_by_start on session_tools (tenant_id, tool_name, started_ms, session_id)',
  ...flags.map(
    (flag) => `create index sessions_${flag} on sessions (tenant_id, started_ms, id) where ${flag} = 1`,
  ),
];

/** Adds the columns that hold the flags of sessions. */
export const flagColumns: readonly string[] = flags.map(
  (flag) => `alter table sessions add column ${flag} integer not null default 0`,
);

const rank = 'risk_rank double precision generated always as (coalesce(risk_score, -1)) virtual';

const statements = [
  ...flagColumns,
  `alter table sessions add column ${rank}`,
  `alter table session_agents add column ${rank}`,
  `create table session_tools (
    tenant_id bigint not null references tenants (id),
    session_id text not null,
    tool_name text not null,
    started_ms bigint not null,
    primary key (tenant_id, session_id, tool_name)
  ) without rowid`,
  `insert into session_tools (tenant_id, session_id, tool_name, started_ms)
    select distinct sessions.tenant_id, sessions.id, tool.value, sessions.started_ms
    from sessions, json_each(sessions.tool_names) as tool`,
  'update sessions set has_errors = 1 where error_count > 0',
  ...[
    ['has_denials', "'deny', 'denied'"],
    ['has_holds', "'require_approval'"],
  ].map(
    ([flag, decisions]) => `update sessions set ${flag} = 1 where (tenant_id, id) in (
      select tenant_id, session_id from events
      where category = 'guardian_decision' and json_extract(payload, '$.decision') in (${decisions})
    )`,
  ),
  ...searchIndexes,
];

/** Columns and indexes that sessions are searched and sorted by. */
export const sessionSearch: Migration = {
  name: '0018-session-search',
  async up(db) {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
