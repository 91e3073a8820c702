import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Usage of agents, their metadata, and held actions, counted from existing rows. */
export const countedQuotas: Migration = {
  name: '0011-counted-quotas',
  async up(db) {
    await sql`
      insert into usage (tenant_id, kind, period_ms, slot, amount)
      select tenant_id, 'agents', 0, 0, count(*) from agents group by tenant_id
      union all
      select tenant_id, 'metadataBytes', 0, 0, sum(length(cast(metadata as blob))) from agents
        where metadata <> '{}' group by tenant_id
      union all
      select tenant_id, 'heldActions', 0, 0, count(*) from pending_actions
        where status = 'pending' group by tenant_id
      union all
      select tenant_id, 'heldActionBytes', 0, 0, sum(length(cast(action as blob))) from pending_actions
        group by tenant_id
    `.execute(db);
  },
};
