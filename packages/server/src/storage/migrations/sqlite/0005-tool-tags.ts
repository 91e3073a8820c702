import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** Corrected tags of tools. A set never changes, so a session keeps the one that it began with. */
export const toolTags: Migration = {
  name: '0005-tool-tags',
  async up(db) {
    await db.schema
      .createTable('tool_tag_sets')
      .addColumn('tenant_id', 'bigint', (column) => column.notNull().references('tenants.id'))
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('created_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('tool_tag_sets_key', ['tenant_id', 'version'])
      .modifyEnd(sql`without rowid`)
      .execute();
    await db.schema.alterTable('session_risk').addColumn('tags_version', 'integer').execute();
  },
};
