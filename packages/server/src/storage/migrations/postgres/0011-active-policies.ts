import type { Migration } from '../../migrate.ts';

/** Index by which a server finds the policies that changed since it read them. */
export const activePolicies: Migration = {
  name: '0011-active-policies',
  async up(db) {
    await db.schema
      .createIndex('policies_by_status')
      .on('policies')
      .columns(['tenant_id', 'status', 'id', 'version', 'updated_ms'])
      .execute();
  },
};
