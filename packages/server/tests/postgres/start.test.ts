import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { deleteExpiredData } from '../../src/background/background-tasks.ts';
import { startServer } from '../../src/index.ts';
import { openStorage } from '../../src/open-storage.ts';
import type { Migration } from '../../src/storage/migrate.ts';
import { postgresMigrations } from '../../src/storage/migrations/postgres.ts';
import { clientConfig } from '../../src/storage/postgres/pool.ts';
import { asSuperuser, createDatabase, databaseUrl, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { transactionPooler } from './transaction-pooler.ts';

test('creates the tables once when servers start concurrently on an empty database', async () => {
  const database = await createDatabase('template1');
  const options = { database, secret: testSecret };
  const servers = await Promise.all(Array.from({ length: 4 }, () => testServer(options)));
  await Promise.all(servers.map((server, index) => server.record({ sessionId: `s-${index}` })));
  const [first, second] = servers as [(typeof servers)[0], (typeof servers)[0]];
  expect((await first.ok('sessions.list')).items).toHaveLength(4);
  expect((await second.ok('sessions.list')).items).toHaveLength(4);
  const applied = await asSuperuser<{ name: string }>('select name from schema_migrations', database);
  expect(new Set(applied.map(({ name }) => name)).size).toBe(applied.length);
});

test('does not touch a database of a newer release', async () => {
  const database = await createDatabase();
  await asSuperuser(`insert into schema_migrations values ('9999-future', 1)`, database);
  await expect(testServer({ database, secret: testSecret })).rejects.toThrow('newer release');
});

test('refuses a server with another secret than the others', async () => {
  const database = await createDatabase();
  await testServer({ database, secret: testSecret });
  const other = testServer({ database, secret: 'another secret, of more than 32 characters' });
  await expect(other).rejects.toThrow('set up with another secret');
});

/** Creates a database, and returns its address for a role that may not create tables. */
async function ownedByAnother(template?: string): Promise<string> {
  const database = await createDatabase(template);
  const role = `guest_${randomUUID().replaceAll('-', '')}`;
  await asSuperuser(
    `create role ${role} login; grant select, insert, update, delete on all tables in schema public to ${role}`,
    database,
  );
  atTestEnd(async () => void (await asSuperuser(`drop owned by ${role}; drop role ${role}`, database)));
  return database.replace('//actlog@', `//${role}@`);
}

test('runs with existing tables and a role that may not create tables, and cleans up', async () => {
  const database = await ownedByAnother();
  const server = await testServer({ database, secret: testSecret });
  await server.record({});
  await server.server.admin.tenants.setRetention(server.tenant, { sessions: 1 });
  const storage = await openStorage({ database });
  atTestEnd(() => storage.close());
  await deleteExpiredData(storage, Date.now() + 3 * 24 * 3_600_000);
  expect((await server.ok('sessions.list')).items).toEqual([]);
});

test('says who must create the tables when the role may not', async () => {
  const database = await ownedByAnother('template0');
  await expect(openStorage({ database })).rejects.toThrow('their owner must run actlog migrate');
});

test('says who must migrate tables of an older release that the role does not own', async () => {
  const database = await ownedByAnother();
  const migrations = postgresMigrations as Migration[];
  migrations.push({
    name: '9999-later',
    up: (db) => db.schema.alterTable('agents').addColumn('later', 'text').execute(),
  });
  atTestEnd(async () => void migrations.pop());
  await expect(openStorage({ database })).rejects.toThrow(
    /must be owner of .*; .* their owner must run actlog migrate/,
  );
});

test('says which privileges the role lacks on existing tables, as after a restore', async () => {
  const database = await createDatabase();
  await asSuperuser('alter table schema_migrations owner to postgres', database);
  await expect(openStorage({ database })).rejects.toThrow(
    /permission denied for table schema_migrations; .* grant it select, insert, update and delete/,
  );
});

test('waits at start for a server that creates the tables, however long that takes', async () => {
  const database = await createDatabase();
  const other = new pg.Client({ connectionString: database });
  await other.connect();
  atTestEnd(() => other.end());
  await other.query('begin; lock table schema_migrations in access exclusive mode');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  atTestEnd(async () => void vi.useRealTimers());
  const opening = openStorage({ database });
  opening.catch(() => {});
  const waiting = `select from pg_locks where not granted and relation = 'schema_migrations'::regclass`;
  while ((await asSuperuser(waiting, database)).length === 0);
  vi.advanceTimersByTime(3_600_000);
  await other.query('commit');
  await (await opening).close();
});

test.each([
  ['', 35_000],
  ['?sslmode=disable&statement_timeout=120000', 125_000],
  ['?statement_timeout=0', undefined],
])('waits for a statement as long as the address %s allows', (parameters, limit) => {
  expect(clientConfig(`postgres://nobody@127.0.0.1:1/none${parameters}`).query_timeout).toBe(limit);
});

test.each([
  [{ secret: undefined }, 'secret: is required with PostgreSQL'],
  [{ maxDatabaseBytes: 1_000_000 }, 'maxDatabaseBytes: applies to SQLite only'],
])(
  '%j cannot be combined with PostgreSQL',
  async ({ secret = undefined, ...options }: object & { secret?: undefined }, problem) => {
    const given = 'maxDatabaseBytes' in options ? { secret: testSecret, ...options } : {};
    await expect(startServer({ database: 'postgres://nobody@127.0.0.1:1/none', ...given })).rejects.toThrow(
      problem,
    );
  },
);

test('does not start behind a pooler that pools by transaction, and says how to configure it', async () => {
  const database = await transactionPooler(await createDatabase());
  await expect(testServer({ database, secret: testSecret })).rejects.toThrow('pool_mode = session');
});

test('does not start when commits do not wait for the disk, and says what to set', async () => {
  const database = await createDatabase();
  await asSuperuser(`alter database ${new URL(database).pathname.slice(1)} set synchronous_commit = off`);
  await expect(openStorage({ database })).rejects.toThrow('set synchronous_commit = on');
});

test('reports an unreachable database, without the password', async () => {
  const database = 'postgres://nobody:hunter2@127.0.0.1:1/none';
  const error: unknown = await startServer({ database, secret: testSecret }).catch(
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(Error);
  expect(String((error as Error).message)).toContain('ECONNREFUSED');
  expect(JSON.stringify(error) + String(error) + (error as Error).stack).not.toContain('hunter2');
});

test('reports an invalid address, without the password', async () => {
  const database = 'postgres://nobody:hunter2#@127.0.0.1:1/none';
  const error: unknown = await openStorage({ database }).catch((caught: unknown) => caught);
  expect(String(error)).toContain('percent-encode');
  expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain('hunter2');
});

test.each(['statement_timeout=30s', 'sslmode=disable&lock_timeout=1min'])(
  'refuses a timeout with a unit in the address: %s',
  async (parameters) => {
    const opening = openStorage({ database: `postgres://nobody@127.0.0.1:1/none?${parameters}` });
    await expect(opening).rejects.toThrow('must be a whole number of milliseconds without a unit');
  },
);

test('leaves backups to the tools of PostgreSQL', async () => {
  const server = await testServer({});
  await expect(server.server.admin.backup('copy')).rejects.toThrow('pg_dump');
});

test('refuses a database whose encoding cannot store every text, and leaves it unchanged', async () => {
  const name = `latin_${randomUUID().replaceAll('-', '')}`;
  await asSuperuser(
    `create database ${name} owner actlog template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`,
  );
  atTestEnd(async () => void (await asSuperuser(`drop database ${name} with (force)`)));
  const database = databaseUrl(name, 'actlog');
  await expect(openStorage({ database })).rejects.toThrow("encoding 'UTF8'");
  expect(await asSuperuser(`select from pg_tables where schemaname = 'public'`, database)).toEqual([]);
});
