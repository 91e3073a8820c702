import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const ddl = `
create table audit_log (
  tenant_id bigint not null,
  id text not null,
  at_ms bigint not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  principal text,
  action text not null,
  target_kind text not null,
  target_id text not null,
  target_name text,
  changes text not null,
  primary key (tenant_id, id)
);
create index audit_log_by_actor_id on audit_log (tenant_id, actor_id, id);
create index audit_log_by_target_id on audit_log (tenant_id, target_id, id);
create index audit_log_by_target_kind on audit_log (tenant_id, target_kind, id);
alter table tenants add column audit_days integer default 365;
alter table deliveries add column last_duration_ms integer;
${keepTenantsApart('audit_log')}
`;

/** Changes by people and keys with a retention of their own, and the duration of attempts to deliver a message. */
export const auditLog: Migration = {
  name: '0019-audit-log',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
