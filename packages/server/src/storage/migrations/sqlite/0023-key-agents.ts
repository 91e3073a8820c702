import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Agents that a key may act as, and those that it has acted as. */
export const keyAgents: Migration = {
  name: '0023-key-agents',
  async up(db) {
    await db.schema.alterTable('api_keys').addColumn('agents', 'text').execute();
    await db.schema
      .alterTable('api_keys')
      .addColumn('shared', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createTable('key_agents')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('key_agents_key', ['tenant_id', 'key_id', 'agent_id'])
      .modifyEnd(sql`without rowid`)
      .execute();
    await sql`create index agents_revoked on agents (tenant_id, id) where status = 'revoked'`.execute(db);
  },
};
