import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const ddl = `
create table policy_decisions (
  tenant_id bigint not null,
  id text not null,
  decided_ms bigint not null,
  agent_id text not null,
  session_id text,
  action_id text,
  tool_name text not null,
  arguments_hash text not null,
  framework text,
  environment text,
  decision text not null,
  decided_by text,
  pending_action_id text,
  dry_run integer not null,
  duration_us integer not null,
  matched text,
  arguments text,
  origins text,
  primary key (tenant_id, id)
);
create index policy_decisions_by_session on policy_decisions (tenant_id, session_id, id)
  where session_id is not null;
alter table tenants add column decision_days integer default 90;
${keepTenantsApart('policy_decisions')}
`;

/** Decisions about checked actions, with a retention of their own. */
export const policyDecisions: Migration = {
  name: '0013-policy-decisions',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
