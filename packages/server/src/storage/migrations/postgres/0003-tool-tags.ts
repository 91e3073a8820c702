import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const ddl = `
create table tool_tag_sets (
  tenant_id bigint not null,
  version integer not null,
  tags text not null,
  created_ms bigint not null,
  primary key (tenant_id, version)
);
alter table session_risk add column tags_version integer;
${keepTenantsApart('tool_tag_sets')}
`;

/** Corrected tags of tools. A set never changes, so a session keeps the one that it began with. */
export const toolTags: Migration = {
  name: '0003-tool-tags',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
