import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const ddl = `
create table call_histories (
  tenant_id bigint not null,
  session_id text not null,
  updated_ms bigint not null,
  state text not null,
  primary key (tenant_id, session_id)
);
create index call_histories_by_age on call_histories (tenant_id, updated_ms);
create table agent_tools (
  tenant_id bigint not null,
  agent_id text not null,
  tools text not null,
  primary key (tenant_id, agent_id)
);
${keepTenantsApart('call_histories')}
${keepTenantsApart('agent_tools')}
`;

/** Histories of sessions and agents that conditions of policies read. */
export const callHistories: Migration = {
  name: '0014-call-histories',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
