import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { ageIndexes } from '../sqlite/0009-ages.ts';

/** Indexes by age of data that expires. */
export const ages: Migration = {
  name: '0007-ages',
  async up(db) {
    await sql.raw(ageIndexes.join(';\n')).execute(db);
  },
};
