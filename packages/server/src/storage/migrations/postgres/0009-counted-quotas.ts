import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Counts rows of all tenants, so row-level security does not bind the owner during it. */
const ddl = `
alter table agents no force row level security;
alter table pending_actions no force row level security;
alter table usage no force row level security;
insert into usage (tenant_id, kind, period_ms, slot, amount)
  select tenant_id, 'agents', 0, 0, count(*) from agents group by tenant_id
  union all
  select tenant_id, 'metadataBytes', 0, 0, sum(octet_length(metadata)) from agents
    where metadata <> '{}' group by tenant_id
  union all
  select tenant_id, 'heldActions', 0, 0, count(*) from pending_actions
    where status = 'pending' group by tenant_id
  union all
  select tenant_id, 'heldActionBytes', 0, 0, sum(octet_length(action)) from pending_actions
    group by tenant_id;
alter table agents force row level security;
alter table pending_actions force row level security;
alter table usage force row level security;
`;

/** Usage of agents, their metadata, and held actions, counted from existing rows. */
export const countedQuotas: Migration = {
  name: '0009-counted-quotas',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
