import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Changes by people and keys with a retention of their own, and the duration of attempts to deliver a message. */
export const auditLog: Migration = {
  name: '0021-audit-log',
  async up(db) {
    await db.schema
      .createTable('audit_log')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .addColumn('actor_kind', 'text', (column) => column.notNull())
      .addColumn('actor_id', 'text')
      .addColumn('actor_name', 'text')
      .addColumn('principal', 'text')
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('target_kind', 'text', (column) => column.notNull())
      .addColumn('target_id', 'text', (column) => column.notNull())
      .addColumn('target_name', 'text')
      .addColumn('changes', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('audit_log_key', ['tenant_id', 'id'])
      .modifyEnd(sql`without rowid`)
      .execute();
    for (const column of ['actor_id', 'target_id', 'target_kind']) {
      await db.schema
        .createIndex(`audit_log_by_${column}`)
        .on('audit_log')
        .columns(['tenant_id', column, 'id'])
        .execute();
    }
    await db.schema
      .alterTable('tenants')
      .addColumn('audit_days', 'integer', (column) => column.defaultTo(365))
      .execute();
    await db.schema.alterTable('deliveries').addColumn('last_duration_ms', 'integer').execute();
  },
};
