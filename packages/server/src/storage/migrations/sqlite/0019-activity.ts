import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { activityColumns, activityOfStoredData } from '../activity-rows.ts';

/** Counts of what happened, by tenant and bucket of time, with those of existing data. */
export const activity: Migration = {
  name: '0019-activity',
  async up(db) {
    const statements = [
      `create table activity (${activityColumns}) without rowid`,
      'create index activity_by_age on activity (span, bucket_ms)',
      "create index deliveries_waiting on deliveries (tenant_id, channel_id, attempts) where status = 'waiting'",
      ...activityOfStoredData(
        {
          lower: 'min',
          field: (name) => `payload ->> '${name}'`,
          // Otherwise SQLite reads the clause as the condition of a join.
          beforeConflict: 'where true',
        },
        Date.now(),
      ),
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
