import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Histories of sessions and agents that conditions of policies read. */
export const callHistories: Migration = {
  name: '0016-call-histories',
  async up(db) {
    await db.schema
      .createTable('call_histories')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('updated_ms', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('call_histories_key', ['tenant_id', 'session_id'])
      .execute();
    await db.schema
      .createIndex('call_histories_by_age')
      .on('call_histories')
      .columns(['tenant_id', 'updated_ms'])
      .execute();
    await db.schema
      .createTable('agent_tools')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('tools', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('agent_tools_key', ['tenant_id', 'agent_id'])
      .modifyEnd(sql`without rowid`)
      .execute();
  },
};
