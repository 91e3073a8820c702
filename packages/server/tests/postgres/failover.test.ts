import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openStorage } from '../../src/open-storage.ts';
import { storageOutage } from '../../src/storage/outage.ts';
import { PostgresPool } from '../../src/storage/postgres/pool.ts';
import { PostgresListener } from '../../src/storage/postgres/postgres-storage.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';

/** Makes new connections to a database read-only, like those to a standby. */
async function refuseWrites(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await asSuperuser(`alter database ${name} set default_transaction_read_only = on`);
  await asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
}

/** Makes new connections writable again, like those to the primary. Open connections are unchanged. */
async function takeWrites(url: string): Promise<void> {
  await asSuperuser(`alter database ${new URL(url).pathname.slice(1)} reset default_transaction_read_only`);
}

test('is not ready while the database is read-only, and ready again without a request that writes', async () => {
  const database = await createDatabase();
  const server = await testServer({ database, secret: testSecret, databaseConnections: 2 });
  const ready = async () => (await fetch(`${server.server.url}/readyz`)).status;
  await refuseWrites(database);
  await vi.waitFor(async () => {
    expect((await server.send('agents.create', { body: { name: 'A' } })).status).toBe(503);
    expect(await ready()).toBe(503);
  }, 10_000);
  await server.ok('agents.list');
  await takeWrites(database);
  await vi.waitFor(async () => expect(await ready()).toBe(200), 20_000);
  await server.ok('agents.create', { body: { name: 'A' } });
});

test('finds the primary again after reaching a standby, while requests keep arriving', async () => {
  const database = await createDatabase();
  const server = await testServer({ database, secret: testSecret, databaseConnections: 2 });
  await refuseWrites(database);
  const body = { name: 'A' };
  const concurrentRequests = () =>
    Promise.all(Array.from({ length: 8 }, () => server.send('agents.create', { body })));
  const statuses = async () => new Set((await concurrentRequests()).map(({ status }) => status));
  // The first requests may use connections that are being closed.
  await concurrentRequests();
  expect(await statuses()).toEqual(new Set([503]));
  await takeWrites(database);
  await vi.waitFor(async () => expect(await statuses()).toEqual(new Set([201])), {
    timeout: 10_000,
    interval: 20,
  });
});

test('does not start on a read-only database, and says why', async () => {
  const database = await createDatabase();
  await refuseWrites(database);
  await expect(testServer({ database, secret: testSecret })).rejects.toThrow('needs the primary');
});

/** Returns the address of a server that sends these responses, one per message, to every client. */
async function respondingWith(...responses: readonly string[]): Promise<string> {
  const server = createServer((socket) => {
    const left = [...responses];
    socket.on('error', () => {}).on('data', () => socket.write(left.shift() ?? ''));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(async () => void server.close());
  return `postgres://actlog@127.0.0.1:${(server.address() as AddressInfo).port}/own`;
}

// Responses of PostgreSQL's protocol: no TLS, and the two steps of a password request.
const noTls = 'N';
const passwordAsked = ['R\0\0\0\x17\0\0\0\nSCRAM-SHA-256\0\0', 'R\0\0\0\x09\0\0\0\x0br'];

test('counts any failed connection as an outage', async () => {
  const addresses = [
    `${await respondingWith(noTls)}?sslmode=verify-full`,
    `${await respondingWith(noTls)}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`,
    await respondingWith(...passwordAsked),
  ];
  for (const url of addresses) {
    const pool = new PostgresPool({ url, connections: 1 });
    const error: unknown = await pool.connect().catch((caught: unknown) => caught);
    expect(storageOutage(error)).toBe('The database cannot be reached. Nothing was stored.');
    await pool.end();
  }
});

test('says where to set a missing password', async () => {
  await expect(openStorage({ database: await respondingWith(...passwordAsked) })).rejects.toThrow(
    'PGPASSWORD',
  );
});

test('reports a missing connection for notifications until there is one', async () => {
  const database = await createDatabase();
  const name = new URL(database).pathname.slice(1);
  const storage = await openStorage({ database, connections: 1 });
  atTestEnd(() => storage.close());
  await storage.probe();
  await asSuperuser(`alter database ${name} connection limit 1`);
  await expect(storage.assertListening()).resolves.toBeUndefined();
  storage.watch(() => {});
  await vi.waitFor(() =>
    expect(storage.assertListening()).rejects.toThrow(
      `too many connections for database "${name}"), so waiting checks`,
    ),
  );
  await asSuperuser(`alter database ${name} connection limit -1`);
  await vi.waitFor(() => storage.assertListening(), { timeout: 10_000 });
});

test('fails only connections made while a file of the address is unreadable', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'actlog-ca-')), 'ca.pem');
  atTestEnd(async () => rmSync(dirname(file), { recursive: true, force: true }));
  writeFileSync(file, '');
  // Without TLS the file is read but not used.
  const url = `${await createDatabase()}?sslmode=disable&sslrootcert=${file}`;
  const pool = new PostgresPool({ url, connections: 1 });
  const listener = new PostgresListener(url);
  atTestEnd(async () => Promise.all([pool.end(), listener.close()]).then(() => {}));
  const first = await pool.connect();
  const second = pool.connect().catch((error: unknown) => storageOutage(error));
  rmSync(file);
  listener.watch(() => {});
  await first.query('select pg_terminate_backend(pg_backend_pid())', []).catch(() => {});
  first.release();
  expect(await second).toBe('The database cannot be reached. Nothing was stored.');
  await vi.waitFor(() => expect(() => listener.assertListening()).toThrow('ENOENT'));
  writeFileSync(file, '');
  (await pool.connect()).release();
  await vi.waitFor(() => listener.assertListening(), { timeout: 10_000 });
});
