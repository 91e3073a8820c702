import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { activityColumns, activityOfStoredData } from '../activity-rows.ts';
import { keepTenantsApart } from './row-security.ts';

/** Tables of all tenants that the migration reads or writes, so row-level security does not bind the owner during it. */
const counted = ['events', 'sessions', 'pending_actions', 'policy_decisions', 'activity'];

const security = (command: string) =>
  counted.map((table) => `alter table ${table} ${command} row level security`).join(';\n');

const sweep = "(select current_setting('actlog.work', true)) = 'sweep'";

const ddl = `
create table activity (${activityColumns.replace('name text', 'name text collate "C"')}) with (fillfactor = 70);
create index activity_by_age on activity (span, bucket_ms);
create index deliveries_waiting on deliveries (tenant_id, channel_id, attempts) where status = 'waiting';
${keepTenantsApart('activity')}
create policy sweep_select on activity for select using (${sweep});
create policy sweep_delete on activity for delete using (${sweep});
`;

/** Counts of what happened, by tenant and bucket of time, with those of existing data. */
export const activity: Migration = {
  name: '0017-activity',
  async up(db) {
    const statements = activityOfStoredData(
      {
        lower: 'least',
        field: (name) =>
          name === 'responseStatus'
            ? `(payload::json ->> '${name}')::integer`
            : `payload::json ->> '${name}'`,
        beforeConflict: '',
      },
      Date.now(),
    );
    await sql.raw([ddl, security('no force'), ...statements, security('force')].join(';\n')).execute(db);
  },
};
