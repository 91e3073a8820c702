import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

/**
 * The sessions of all tenants are counted, so row-level security does not bind the owner meanwhile. A row of usage is
 * written by every group commit, so it has room to be changed in place.
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

/** Quotas of tenants, and what of them is used. Events are counted from here on; sessions are all there are. */
export const quotas: Migration = {
  name: '0005-quotas',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
