import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { flagColumns, searchIndexes } from '../sqlite/0018-session-search.ts';
import { keepTenantsApart } from './row-security.ts';

const rank = 'risk_rank double precision generated always as (coalesce(risk_score, -1)) stored';

/** Reads and updates rows of all tenants, so row-level security does not bind the owner during it. */
const ddl = `
alter table sessions no force row level security;
alter table events no force row level security;
${flagColumns.join(';\n')};
alter table sessions add column ${rank};
alter table session_agents add column ${rank};
create table session_tools (
  tenant_id bigint not null,
  session_id text collate "C" not null,
  tool_name text collate "C" not null,
  started_ms bigint not null,
  primary key (tenant_id, session_id, tool_name)
);
insert into session_tools (tenant_id, session_id, tool_name, started_ms)
  select distinct sessions.tenant_id, sessions.id, tool.value, sessions.started_ms
  from sessions cross join lateral json_array_elements_text(sessions.tool_names::json) as tool (value);
with decided as (
  select tenant_id, session_id,
    max((payload::json ->> 'decision' in ('deny', 'denied'))::integer) as denials,
    max((payload::json ->> 'decision' = 'require_approval')::integer) as holds
  from events where category = 'guardian_decision' group by tenant_id, session_id
)
update sessions set has_denials = decided.denials, has_holds = decided.holds from decided
  where sessions.tenant_id = decided.tenant_id and sessions.id = decided.session_id;
update sessions set has_errors = 1 where error_count > 0;
alter table sessions force row level security;
alter table events force row level security;
${searchIndexes.join(';\n')};
${keepTenantsApart('session_tools')}
`;

/** Columns and indexes that sessions are searched and sorted by. */
export const sessionSearch: Migration = {
  name: '0016-session-search',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
