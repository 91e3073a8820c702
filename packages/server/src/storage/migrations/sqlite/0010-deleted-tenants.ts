import type { Migration } from '../../migrate.ts';

/** Time at which a tenant was deleted, and time from which only its row is left. */
export const deletedTenants: Migration = {
  name: '0010-deleted-tenants',
  async up(db) {
    for (const moment of ['deleted_ms', 'emptied_ms']) {
      await db.schema.alterTable('tenants').addColumn(moment, 'bigint').execute();
    }
  },
};
