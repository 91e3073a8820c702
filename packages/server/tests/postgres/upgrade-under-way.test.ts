import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { type Migration, migrate } from '../../src/storage/migrate.ts';
import { postgresMigrations } from '../../src/storage/migrations/postgres.ts';
import { PostgresPool } from '../../src/storage/postgres/pool.ts';
import { inTransaction } from '../../src/storage/postgres/transactions.ts';
import type { Tables } from '../../src/storage/schema.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { activityEvent, checkBody, type TestServer, testServer } from '../test-server.ts';

/** Adds a column to every table, as a newer release does to some. */
const addColumns = `do $$ declare name text; begin
  for name in select relname from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
  loop execute 'alter table ' || name || ' add column later text'; end loop;
end $$`;

/** Returns the statuses of concurrent requests, more than the server has connections. */
async function statuses(server: TestServer): Promise<Set<number>> {
  const round = Array.from({ length: 8 }, () => [
    server.send('events.create', { body: activityEvent() }),
    server.send('sessions.list'),
    server.send('sessions.get', { id: 'thread-1' }),
    server.send('agents.list'),
    server.send('agents.get', { id: 'billing-agent' }),
    server.send('policies.list'),
    server.send('policies.check', { body: checkBody() }),
    server.send('notificationChannels.list'),
    server.send('guardian.pendingActions.list'),
  ]).flat();
  return new Set((await Promise.all(round)).map(({ status }) => status));
}

test('keeps serving while a newer release migrates the tables', async () => {
  const database = await createDatabase();
  const server = await testServer({ database, secret: testSecret });
  await server.record({});
  await server.policy({ effect: 'require_approval' });
  const successful = new Set([200, 202]);
  for (let round = 0; round < 3; round += 1) expect(await statuses(server)).toEqual(successful);
  await asSuperuser(addColumns, database);
  for (let round = 0; round < 3; round += 1) expect(await statuses(server)).toEqual(successful);
});

test('migrates beside transactions that lock tables in another order, without ending them', async () => {
  const url = await createDatabase();
  const database = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new PostgresPool({ url, connections: 1 }) }),
  });
  atTestEnd(() => database.destroy());
  const atWork = new pg.Client({ connectionString: url });
  await atWork.connect();
  atTestEnd(() => atWork.end());
  let runs = 0;
  const later: Migration = {
    name: '9999-later',
    async up(db) {
      runs += 1;
      for (const table of ['sessions', 'session_agents']) {
        await db.schema.alterTable(table).addColumn('later', 'text').execute();
      }
    },
  };
  const messages: string[] = [];
  await atWork.query('begin; lock table session_agents in row exclusive mode');
  const upgrade = inTransaction(database, 'write', 'migrate', (db) =>
    migrate(db, [...postgresMigrations, later], (message) => messages.push(message)),
  );
  const waiting = `select from pg_locks where not granted and relation = 'session_agents'::regclass`;
  await vi.waitFor(async () => expect(await asSuperuser(waiting, url)).not.toEqual([]), { timeout: 10_000 });
  await atWork.query('lock table sessions in row exclusive mode');
  await atWork.query('commit');
  await upgrade;
  expect(runs).toBe(1);
  expect(messages).toEqual([
    'waiting for transactions that use the tables, such as those of a pg_dump',
    'applying migration 9999-later (1 of 1)',
  ]);
});
