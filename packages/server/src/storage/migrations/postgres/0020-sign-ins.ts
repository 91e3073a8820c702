import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const work = "(select current_setting('actlog.work', true))";

const ddl = `
create table sign_ins (
  tenant_id bigint not null,
  id text not null,
  digest text not null,
  user_id text not null,
  name text not null,
  role text not null,
  id_token text,
  created_ms bigint not null,
  last_used_ms bigint not null,
  expires_ms bigint not null,
  primary key (tenant_id, id)
);
create index sign_ins_by_digest on sign_ins (digest);
create index sign_ins_by_end on sign_ins (expires_ms);
${keepTenantsApart('sign_ins')}
create policy authenticate_select on sign_ins for select using (${work} = 'authenticate');
create policy administer_all on sign_ins for all using (${work} = 'administer');
create policy sweep_select on sign_ins for select using (${work} = 'sweep');
create policy sweep_delete on sign_ins for delete using (${work} = 'sweep');
alter table pending_actions add column decided_principal text;
alter table approval_grants add column granted_principal text, add column revoked_principal text;
alter table api_keys add column created_by text;
`;

/** People who are signed in, and the names of the people behind decisions, grants and keys. */
export const signIns: Migration = {
  name: '0020-sign-ins',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
