import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const ddl = `
alter table api_keys add column agents text, add column shared bigint not null default 0;
create table key_agents (
  tenant_id bigint not null,
  key_id text not null,
  agent_id text not null,
  primary key (tenant_id, key_id, agent_id)
);
create index agents_revoked on agents (tenant_id, id) where status = 'revoked';
${keepTenantsApart('key_agents')}
`;

/** Agents that a key may act as, and those that it has acted as. */
export const keyAgents: Migration = {
  name: '0021-key-agents',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
