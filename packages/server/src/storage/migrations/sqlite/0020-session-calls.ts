import { sql } from 'kysely';
import type { Migration } from '../../migrate.ts';

/** A row for each call of a history, so that a check writes one call and not all of them. */
export const sessionCalls: Migration = {
  name: '0020-session-calls',
  async up(db) {
    const statements = [
      `create table session_calls (
        tenant_id bigint not null,
        session_id text not null,
        number bigint not null,
        call text not null,
        primary key (tenant_id, session_id, number),
        foreign key (tenant_id, session_id) references call_histories (tenant_id, session_id) on delete cascade
      ) without rowid`,
      `insert into session_calls
        select tenant_id, session_id, kept.key + 1, kept.value
        from call_histories, json_each(state, '$.calls') as kept`,
      'alter table call_histories rename column state to summary',
      "update call_histories set summary = json_set(json_remove(summary, '$.calls'), '$.version', 2)",
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
