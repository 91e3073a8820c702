import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Shared with PostgreSQL: indexes by which cleanup finds expired rows without reading the others. */
export const ageIndexes: readonly string[] = [
  'create index sessions_by_receipt on sessions (tenant_id, received_ms)',
  'create index policy_counts_by_age on policy_counts (slice_ms)',
  'create index checked_actions_by_age on checked_actions (created_ms) where pending_action_id is null',
  'create index held_actions_by_age on checked_actions (tenant_id, created_ms) where pending_action_id is not null',
  "create index deliveries_by_age on deliveries (created_ms) where status <> 'waiting'",
];

/** Indexes by age of data that expires. */
export const ages: Migration = {
  name: '0009-ages',
  async up(db) {
    for (const statement of ageIndexes) await sql.raw(statement).execute(db);
  },
};
