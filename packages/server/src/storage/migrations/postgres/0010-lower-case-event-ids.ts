import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/**
 * Converts one spelling of each id to lower case, unless the tenant has that id already. The update covers rows of all
 * tenants, so row-level security does not bind the owner during it.
 */
const ddl = `
alter table event_ids no force row level security;
alter table events no force row level security;
with spelled as (
  select distinct on (tenant_id, lower(event_id)) tenant_id, event_id from event_ids
  where event_id ~ '[A-F]' order by tenant_id, lower(event_id), event_id
), changed as (
  update event_ids set event_id = lower(event_ids.event_id) from spelled
  where event_ids.tenant_id = spelled.tenant_id and event_ids.event_id = spelled.event_id
    and not exists (
      select from event_ids twin
      where twin.tenant_id = spelled.tenant_id and twin.event_id = lower(spelled.event_id)
    )
  returning event_ids.*
)
update events set event_id = changed.event_id from changed
where events.tenant_id = changed.tenant_id and events.session_id = changed.session_id
  and events.arrival = changed.arrival and events.received_ms = changed.received_ms;
alter table event_ids force row level security;
alter table events force row level security;
`;

/**
 * Event ids in lower case: two spellings of a UUID are one id. Where a tenant already has both, they stay two events.
 */
export const lowerCaseEventIds: Migration = {
  name: '0010-lower-case-event-ids',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
