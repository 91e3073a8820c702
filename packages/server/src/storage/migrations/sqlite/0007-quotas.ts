import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Quotas and usage of tenants. Events are counted from here on; sessions include existing ones. */
export const quotas: Migration = {
  name: '0007-quotas',
  async up(db) {
    await db.schema.alterTable('tenants').addColumn('quotas', 'text').execute();
    await db.schema
      .createTable('usage')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('period_ms', 'bigint', (column) => column.notNull())
      .addColumn('slot', 'integer', (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_key', ['tenant_id', 'kind', 'period_ms', 'slot'])
      .modifyEnd(sql`without rowid`)
      .execute();
    await sql`
      insert into usage (tenant_id, kind, period_ms, slot, amount)
      select tenant_id, 'sessions', 0, 0, count(*) from sessions group by tenant_id
    `.execute(db);
  },
};
