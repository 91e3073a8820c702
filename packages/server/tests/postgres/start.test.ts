import { expect, test } from 'vitest';
import { startServer } from '../../src/index.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { testServer } from '../test-server.ts';

test('servers that start at once on an empty database make its tables once', async () => {
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

test('a database of a newer release is not touched', async () => {
  const database = await createDatabase();
  await asSuperuser(`insert into schema_migrations values ('9999-future', 1)`, database);
  await expect(testServer({ database, secret: testSecret })).rejects.toThrow('newer release');
});

test('a server with another secret than the others is refused', async () => {
  const database = await createDatabase();
  await testServer({ database, secret: testSecret });
  const other = testServer({ database, secret: 'another secret, of more than 32 characters' });
  await expect(other).rejects.toThrow('set up with another secret');
});

test('a role that may not make tables runs a server whose tables are made', async () => {
  const database = await createDatabase();
  const role = `guest_${process.pid}`;
  await asSuperuser(
    `create role ${role} login; grant select, insert, update, delete on all tables in schema public to ${role}`,
    database,
  );
  const server = await testServer({
    database: database.replace('//actlog@', `//${role}@`),
    secret: testSecret,
  });
  await server.record({});
  await server.server.close();
  await asSuperuser(`drop owned by ${role}; drop role ${role}`, database);
});

test.each([
  [{ secret: undefined }, 'secret: must be given with PostgreSQL'],
  [{ maxDatabaseBytes: 1_000_000 }, 'maxDatabaseBytes: bounds an SQLite file'],
])(
  '%j does not go with PostgreSQL',
  async ({ secret = undefined, ...options }: object & { secret?: undefined }, problem) => {
    const given = 'maxDatabaseBytes' in options ? { secret: testSecret, ...options } : {};
    await expect(startServer({ database: 'postgres://nobody@127.0.0.1:1/none', ...given })).rejects.toThrow(
      problem,
    );
  },
);

test('a database that cannot be reached is said so, without the password', async () => {
  const database = 'postgres://nobody:hunter2@127.0.0.1:1/none';
  const error: unknown = await startServer({ database, secret: testSecret }).catch(
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(Error);
  expect(String((error as Error).message)).toContain('ECONNREFUSED');
  expect(JSON.stringify(error) + String(error) + (error as Error).stack).not.toContain('hunter2');
});

test('a backup is left to what PostgreSQL has for it', async () => {
  const server = await testServer();
  expect(() => server.server.admin.backup('copy')).toThrow('pg_dump');
});
