import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

/**
 * Counts the sessions of all tenants, so row-level security does not bind the owner during it. Every group commit
 * updates rows of `usage`, so their pages have room for updates in place.
 */
const ddl = `
alter table tenants add column quotas text;
create table usage (
  tenant_id bigint not null,
  kind text collate "C" not null,
  period_ms bigint not null,
  slot integer not null,
  amount bigint not null,
  primary key (tenant_id, kind, period_ms, slot)
) with (fillfactor = 50);
alter table sessions no force row level security;
insert into usage (tenant_id, kind, period_ms, slot, amount)
  select tenant_id, 'sessions', 0, 0, count(*) from sessions group by tenant_id;
alter table sessions force row level security;
${keepTenantsApart('usage')}
`;

/** Quotas and usage of tenants. Events are counted from here on; sessions include existing ones. */
export const quotas: Migration = {
  name: '0005-quotas',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
