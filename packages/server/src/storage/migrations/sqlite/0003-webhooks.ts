import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Webhooks, and the outbox of their messages. */
export const webhooks: Migration = {
  name: '0003-webhooks',
  async up(db) {
    await db.schema
      .createTable('notification_channels')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('events', 'text', (column) => column.notNull())
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_delivery_ms', 'bigint')
      .addColumn('failure_count', 'integer', (column) => column.notNull())
      .addColumn('failing_since_ms', 'bigint')
      .addPrimaryKeyConstraint('notification_channels_key', ['tenant_id', 'id'])
      .execute();
    await db.schema
      .createIndex('notification_channels_by_creation')
      .on('notification_channels')
      .columns(['tenant_id', 'created_ms', 'id'])
      .execute();

    await db.schema
      .createTable('deliveries')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('channel_id', 'text', (column) => column.notNull())
      .addColumn('message_id', 'text', (column) => column.notNull())
      .addColumn('event_type', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_ms', 'bigint', (column) => column.notNull())
      .addColumn('leased_until_ms', 'bigint', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addColumn('finished_ms', 'bigint')
      .addColumn('last_status', 'integer')
      .addColumn('last_error', 'text')
      .addPrimaryKeyConstraint('deliveries_key', ['tenant_id', 'id'])
      .execute();
    await db.schema
      .createIndex('deliveries_due')
      .on('deliveries')
      .column('next_attempt_ms')
      .where(sql.ref('status'), '=', 'waiting')
      .execute();
    await db.schema
      .createIndex('deliveries_by_channel')
      .on('deliveries')
      .columns(['tenant_id', 'channel_id', 'created_ms', 'id'])
      .execute();
  },
};
