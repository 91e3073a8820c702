import type { Migration } from '../../migrate.ts';

/** Previous secret of a webhook, and the time until which it is valid. */
export const webhookRotation: Migration = {
  name: '0008-webhook-rotation',
  async up(db) {
    await db.schema.alterTable('notification_channels').addColumn('previous_secret', 'text').execute();
    await db.schema.alterTable('notification_channels').addColumn('previous_until_ms', 'bigint').execute();
  },
};
