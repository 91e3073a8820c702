import type { Migration } from '../../migrate.ts';

/** The secret that a webhook had before, and until when it is taken. */
export const webhookRotation: Migration = {
  name: '0008-webhook-rotation',
  async up(db) {
    await db.schema.alterTable('notification_channels').addColumn('previous_secret', 'text').execute();
    await db.schema.alterTable('notification_channels').addColumn('previous_until_ms', 'bigint').execute();
  },
};
