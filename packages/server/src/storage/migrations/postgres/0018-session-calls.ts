import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';
import { keepTenantsApart } from './row-security.ts';

const ddl = `
create table session_calls (
  tenant_id bigint not null,
  session_id text not null,
  number bigint not null,
  call text not null,
  primary key (tenant_id, session_id, number),
  foreign key (tenant_id, session_id) references call_histories (tenant_id, session_id) on delete cascade
);
alter table call_histories no force row level security;
insert into session_calls
  select tenant_id, session_id, kept.number, kept.call::text
  from call_histories, json_array_elements(state::json -> 'calls') with ordinality as kept (call, number);
alter table call_histories rename column state to summary;
update call_histories set summary = (summary::jsonb - 'calls' || '{"version": 2}')::text;
alter table call_histories force row level security;
${keepTenantsApart('session_calls')}
`;

/** A row for each call of a history, so that a check writes one call and not all of them. */
export const sessionCalls: Migration = {
  name: '0018-session-calls',
  async up(db) {
    await sql.raw(ddl).execute(db);
  },
};
