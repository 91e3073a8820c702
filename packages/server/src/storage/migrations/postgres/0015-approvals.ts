import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const ddl = `
alter table pending_actions
  add column required_approvers integer not null default 1,
  add column not_requester integer not null default 0,
  add column approver_keys text,
  add column approvals text,
  add column requested_by text,
  add column principal text,
  add column policies text,
  add column grant_id text;
alter table checked_actions add column grant_id text;
alter table policy_decisions add column grant_id text, add column principal text;
create table approval_grants (
  tenant_id bigint not null,
  id text not null,
  session_id text not null,
  agent_id text not null,
  principal text,
  granted_for text not null,
  tool_name text not null,
  action_digest text not null,
  policies text not null,
  pending_action_id text not null,
  granted_by text not null,
  created_ms bigint not null,
  expires_ms bigint not null,
  max_uses integer,
  uses integer not null,
  revoked_ms bigint,
  revoked_by text,
  primary key (tenant_id, id)
);
create index approval_grants_by_session on approval_grants (tenant_id, session_id, expires_ms);
create index approval_grants_by_end on approval_grants (tenant_id, expires_ms);
${keepTenantsApart('approval_grants')}
`;

/** Several approvers, the principal of a check, and grants for later actions. */
export const approvals: Migration = {
  name: '0015-approvals',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
