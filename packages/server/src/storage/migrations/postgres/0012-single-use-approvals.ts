import type { Migration } from '../../migrate.ts';

/** Single-use approvals, and the check that used each. */
export const singleUseApprovals: Migration = {
  name: '0012-single-use-approvals',
  async up(db) {
    const table = () => db.schema.alterTable('pending_actions');
    await table()
      .addColumn('single_use', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await table().addColumn('used_by', 'text').execute();
    await table().addColumn('used_ms', 'bigint').execute();
  },
};
