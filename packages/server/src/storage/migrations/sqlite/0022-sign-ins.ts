import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** People who are signed in, and the names of the people behind decisions, grants and keys. */
export const signIns: Migration = {
  name: '0022-sign-ins',
  async up(db) {
    await db.schema
      .createTable('sign_ins')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('id_token', 'text')
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_used_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('sign_ins_key', ['tenant_id', 'id'])
      .modifyEnd(sql`without rowid`)
      .execute();
    await db.schema.createIndex('sign_ins_by_digest').on('sign_ins').column('digest').execute();
    await db.schema.createIndex('sign_ins_by_end').on('sign_ins').column('expires_ms').execute();
    for (const [table, column] of [
      ['pending_actions', 'decided_principal'],
      ['approval_grants', 'granted_principal'],
      ['approval_grants', 'revoked_principal'],
      ['api_keys', 'created_by'],
    ] as const) {
      await db.schema.alterTable(table).addColumn(column, 'text').execute();
    }
  },
};
