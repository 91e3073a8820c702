import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Several approvers, the principal of a check, and grants for later actions. */
export const approvals: Migration = {
  name: '0017-approvals',
  async up(db) {
    const add = (table: string) => db.schema.alterTable(table);
    await add('pending_actions')
      .addColumn('required_approvers', 'integer', (column) => column.notNull().defaultTo(1))
      .execute();
    await add('pending_actions')
      .addColumn('not_requester', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    for (const name of ['approver_keys', 'approvals', 'requested_by', 'principal', 'policies', 'grant_id']) {
      await add('pending_actions').addColumn(name, 'text').execute();
    }
    await add('checked_actions').addColumn('grant_id', 'text').execute();
    await add('policy_decisions').addColumn('grant_id', 'text').execute();
    await add('policy_decisions').addColumn('principal', 'text').execute();
    await db.schema
      .createTable('approval_grants')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('principal', 'text')
      .addColumn('granted_for', 'text', (column) => column.notNull())
      .addColumn('tool_name', 'text', (column) => column.notNull())
      .addColumn('action_digest', 'text', (column) => column.notNull())
      .addColumn('policies', 'text', (column) => column.notNull())
      .addColumn('pending_action_id', 'text', (column) => column.notNull())
      .addColumn('granted_by', 'text', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_ms', 'bigint', (column) => column.notNull())
      .addColumn('max_uses', 'integer')
      .addColumn('uses', 'integer', (column) => column.notNull())
      .addColumn('revoked_ms', 'bigint')
      .addColumn('revoked_by', 'text')
      .addPrimaryKeyConstraint('approval_grants_key', ['tenant_id', 'id'])
      .modifyEnd(sql`without rowid`)
      .execute();
    await db.schema
      .createIndex('approval_grants_by_session')
      .on('approval_grants')
      .columns(['tenant_id', 'session_id', 'expires_ms'])
      .execute();
    await db.schema
      .createIndex('approval_grants_by_end')
      .on('approval_grants')
      .columns(['tenant_id', 'expires_ms'])
      .execute();
  },
};
