import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Policies, the counts of their rate conditions, and held actions. */
export const policies: Migration = {
  name: '0002-policies',
  async up(db) {
    await db.schema
      .createTable('policies')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('definition', 'text', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_ms', 'bigint', (column) => column.notNull())
      .addColumn('archived_ms', 'bigint')
      .addColumn('version', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('policies_key', ['tenant_id', 'id'])
      .execute();
    await db.schema
      .createIndex('policies_by_creation')
      .on('policies')
      .columns(['tenant_id', 'created_ms', 'id'])
      .execute();

    await db.schema
      .createTable('policy_counts')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('policy_id', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('slice_ms', 'bigint', (column) => column.notNull())
      .addColumn('actions', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('policy_counts_key', ['tenant_id', 'policy_id', 'subject', 'slice_ms'])
      .modifyEnd(sql`without rowid`)
      .execute();

    await db.schema
      .createTable('checked_actions')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('action_id', 'text', (column) => column.notNull())
      .addColumn('action_digest', 'text', (column) => column.notNull())
      .addColumn('pending_action_id', 'text')
      .addColumn('counted', 'integer', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('checked_actions_key', ['tenant_id', 'agent_id', 'action_id'])
      .modifyEnd(sql`without rowid`)
      .execute();

    await db.schema
      .createTable('pending_actions')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text')
      .addColumn('policy_id', 'text', (column) => column.notNull())
      .addColumn('action_digest', 'text', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_ms', 'bigint', (column) => column.notNull())
      .addColumn('on_timeout', 'text', (column) => column.notNull())
      .addColumn('comment', 'text')
      .addColumn('decided_by', 'text')
      .addColumn('decided_ms', 'bigint')
      .addPrimaryKeyConstraint('pending_actions_key', ['tenant_id', 'id'])
      .execute();
    await db.schema
      .createIndex('pending_actions_by_creation')
      .on('pending_actions')
      .columns(['tenant_id', 'status', 'created_ms', 'id'])
      .execute();
    await db.schema
      .createIndex('pending_actions_by_action')
      .on('pending_actions')
      .columns(['tenant_id', 'agent_id', 'action_digest'])
      .execute();
    await db.schema
      .createIndex('pending_actions_by_end')
      .on('pending_actions')
      .column('expires_ms')
      .where(sql.ref('status'), '=', 'pending')
      .execute();
  },
};
