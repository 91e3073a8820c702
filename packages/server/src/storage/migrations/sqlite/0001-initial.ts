import { type CreateTableBuilder, sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Modifier for a table stored in the order of its primary key, so that a range of keys is one run of pages. */
const clustered = sql`without rowid`;

function tenantTable<Name extends string>(
  table: CreateTableBuilder<Name, never>,
): CreateTableBuilder<Name, 'tenant_id'> {
  return table.addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'));
}

/** Tenants, keys, agents, sessions and events. */
export const initial: Migration = {
  name: '0001-initial',
  async up(db) {
    await db.schema
      .createTable('tenants')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('settings_version', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('retention_days', 'integer')
      .execute();

    await tenantTable(db.schema.createTable('api_keys'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('expires_ms', 'bigint')
      .addColumn('last_used_ms', 'bigint')
      .addPrimaryKeyConstraint('api_keys_key', ['tenant_id', 'id'])
      .execute();
    await db.schema.createIndex('api_keys_by_id').on('api_keys').column('id').execute();

    await tenantTable(db.schema.createTable('rate_limits'))
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('theoretical_arrival_ms', 'double precision', (column) => column.notNull())
      .addPrimaryKeyConstraint('rate_limits_key', ['tenant_id', 'subject'])
      .modifyEnd(clustered)
      .execute();

    await tenantTable(db.schema.createTable('idempotency_keys'))
      .addColumn('endpoint', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('request_digest', 'text', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('response', 'text', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('idempotency_keys_key', ['tenant_id', 'endpoint', 'key'])
      .execute();
    await db.schema
      .createIndex('idempotency_keys_by_age')
      .on('idempotency_keys')
      .column('created_ms')
      .execute();

    await tenantTable(db.schema.createTable('agents'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('name', 'text')
      .addColumn('description', 'text')
      .addColumn('framework', 'text')
      .addColumn('version', 'text')
      .addColumn('owner', 'text')
      .addColumn('metadata', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('registered', 'integer', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_ms', 'bigint')
      .addPrimaryKeyConstraint('agents_key', ['tenant_id', 'id'])
      .modifyEnd(clustered)
      .execute();
    await db.schema
      .createIndex('agents_by_creation')
      .on('agents')
      .columns(['tenant_id', 'created_ms', 'id'])
      .execute();

    await tenantTable(db.schema.createTable('sessions'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('agent_ids', 'text', (column) => column.notNull())
      .addColumn('started_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_event_ms', 'bigint', (column) => column.notNull())
      .addColumn('event_count', 'bigint', (column) => column.notNull())
      .addColumn('error_count', 'bigint', (column) => column.notNull())
      .addColumn('last_arrival', 'bigint', (column) => column.notNull())
      .addColumn('tool_names', 'text', (column) => column.notNull())
      .addColumn('risk_score', 'double precision')
      .addColumn('risk_level', 'text')
      .addColumn('risk_arrival', 'bigint', (column) => column.notNull())
      .addColumn('risk_learned', 'integer', (column) => column.notNull())
      .addColumn('received_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('sessions_key', ['tenant_id', 'id'])
      .modifyEnd(clustered)
      .execute();
    await db.schema
      .createIndex('sessions_by_start')
      .on('sessions')
      .columns(['tenant_id', 'started_ms', 'id'])
      .execute();

    await tenantTable(db.schema.createTable('session_agents'))
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('started_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('session_agents_key', ['tenant_id', 'session_id', 'agent_id'])
      .modifyEnd(clustered)
      .execute();
    await db.schema
      .createIndex('session_agents_by_start')
      .on('session_agents')
      .columns(['tenant_id', 'agent_id', 'started_ms', 'session_id'])
      .execute();

    // Not clustered: rows of this size make the tree deep, and an insert in the middle moves neighboring rows.
    await tenantTable(db.schema.createTable('events'))
      .addColumn('session_id', 'text', (column) => column.notNull())
      .addColumn('source_ms', 'bigint', (column) => column.notNull())
      .addColumn('event_id', 'text', (column) => column.notNull())
      .addColumn('arrival', 'bigint', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('source_timestamp', 'text', (column) => column.notNull())
      .addColumn('category', 'text', (column) => column.notNull())
      .addColumn('schema_version', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('received_ms', 'bigint', (column) => column.notNull())
      .addColumn('stamp', 'integer', (column) => column.notNull())
      .addUniqueConstraint('events_by_id', ['tenant_id', 'event_id'])
      .execute();
    await db.schema
      .createIndex('events_by_session')
      .on('events')
      .columns(['tenant_id', 'session_id', 'source_ms', 'event_id', 'arrival'])
      .execute();
  },
};
