import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Decisions about checked actions, with a retention of their own. */
export const policyDecisions: Migration = {
  name: '0015-policy-decisions',
  async up(db) {
    await db.schema
      .createTable('policy_decisions')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('decided_ms', 'bigint', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text')
      .addColumn('action_id', 'text')
      .addColumn('tool_name', 'text', (column) => column.notNull())
      .addColumn('arguments_hash', 'text', (column) => column.notNull())
      .addColumn('framework', 'text')
      .addColumn('environment', 'text')
      .addColumn('decision', 'text', (column) => column.notNull())
      .addColumn('decided_by', 'text')
      .addColumn('pending_action_id', 'text')
      .addColumn('dry_run', 'integer', (column) => column.notNull())
      .addColumn('duration_us', 'integer', (column) => column.notNull())
      .addColumn('matched', 'text')
      .addColumn('arguments', 'text')
      .addColumn('origins', 'text')
      .addPrimaryKeyConstraint('policy_decisions_key', ['tenant_id', 'id'])
      .modifyEnd(sql`without rowid`)
      .execute();
    await db.schema
      .createIndex('policy_decisions_by_session')
      .on('policy_decisions')
      .columns(['tenant_id', 'session_id', 'id'])
      .where('session_id', 'is not', null)
      .execute();
    await db.schema
      .alterTable('tenants')
      .addColumn('decision_days', 'integer', (column) => column.defaultTo(90))
      .execute();
  },
};
