import type { Migration } from '../../migrate.ts';

/** When a tenant was deleted. */
export const deletedTenants: Migration = {
  name: '0008-deleted-tenants',
  async up(db) {
    await db.schema.alterTable('tenants').addColumn('deleted_ms', 'bigint').execute();
  },
};
