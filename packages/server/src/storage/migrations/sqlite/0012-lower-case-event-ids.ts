import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/**
 * Event ids in lower case: two spellings of a UUID are one id. Where a tenant already has both, they stay two events.
 */
export const lowerCaseEventIds: Migration = {
  name: '0012-lower-case-event-ids',
  async up(db) {
    await sql`
      update or ignore events set event_id = lower(event_id) where event_id glob '*[A-F]*'
    `.execute(db);
  },
};
