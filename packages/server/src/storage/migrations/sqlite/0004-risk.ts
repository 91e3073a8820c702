import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** State of the risk engine for sessions, agents and tenants. */
export const risk: Migration = {
  name: '0004-risk',
  async up(db) {
    await db.schema
      .createTable('session_risk')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('baseline', 'text')
      .addPrimaryKeyConstraint('session_risk_key', ['tenant_id', 'session_id'])
      .execute();
    await db.schema
      .createTable('agent_baselines')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('baseline', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('agent_baselines_key', ['tenant_id', 'agent_id'])
      .execute();
    await db.schema
      .createTable('tenant_risk')
      .addColumn('tenant_id', 'bigint', (column) => column.primaryKey().references('tenants.id'))
      .addColumn('state', 'text', (column) => column.notNull())
      .execute();
    // Partial indexes with only the few sessions that are still to be processed.
    await db.schema
      .createIndex('sessions_risk_behind')
      .on('sessions')
      .columns(['tenant_id', 'id'])
      .where(sql<boolean>`risk_arrival < last_arrival`)
      .execute();
    await db.schema
      .createIndex('sessions_not_learned')
      .on('sessions')
      .columns(['tenant_id', 'id'])
      .where(sql.ref('risk_learned'), '=', 0)
      .execute();
  },
};
