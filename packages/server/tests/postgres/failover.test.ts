import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import { storageOutage } from '../../src/storage/outage.ts';
import { PostgresListener } from '../../src/storage/postgres/listener.ts';
import { PostgresPool } from '../../src/storage/postgres/pool.ts';
import { asSuperuser, createDatabase, testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';

/** Has new connections to a database take no writes, as those to a standby. */
async function refuseWrites(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await asSuperuser(`alter database ${name} set default_transaction_read_only = on`);
  await asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
}

/** Has new connections take writes again, as those to the primary. Connections that are there stay as they are. */
async function takeWrites(url: string): Promise<void> {
  await asSuperuser(`alter database ${new URL(url).pathname.slice(1)} reset default_transaction_read_only`);
}

test('a server that has reached a standby finds the primary again while requests go on coming', async () => {
  const database = await createDatabase();
  const server = await testServer({ database, secret: testSecret, databaseConnections: 2 });
  await refuseWrites(database);
  const body = { name: 'A' };
  const crowd = () => Promise.all(Array.from({ length: 8 }, () => server.send('agents.create', { body })));
  const statuses = async () => new Set((await crowd()).map(({ status }) => status));
  // The first requests may meet connections that are cut only now.
  await crowd();
  expect(await statuses()).toEqual(new Set([503]));
  await takeWrites(database);
  await vi.waitFor(async () => expect(await statuses()).toEqual(new Set([201])), {
    timeout: 10_000,
    interval: 20,
  });
});

test('a server does not start on a database that takes no writes, and says why', async () => {
  const database = await createDatabase();
  await refuseWrites(database);
  await expect(testServer({ database, secret: testSecret })).rejects.toThrow('needs the primary');
});

/** The address of one who gives these answers, one to each message, to everyone who connects. */
async function answering(...answers: readonly string[]): Promise<string> {
  const server = createServer((socket) => {
    const left = [...answers];
    socket.on('error', () => {}).on('data', () => socket.write(left.shift() ?? ''));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTestEnd(async () => void server.close());
  return `postgres://actlog@127.0.0.1:${(server.address() as AddressInfo).port}/own`;
}

// Answers of PostgreSQL's protocol: that it has no TLS, and the two steps in which it asks for a password.
const noTls = 'N';
const passwordAsked = ['R\0\0\0\x17\0\0\0\nSCRAM-SHA-256\0\0', 'R\0\0\0\x09\0\0\0\x0br'];

test('a connection that cannot be made is an outage, whatever the reason', async () => {
  const addresses = [
    `${await answering(noTls)}?sslmode=verify-full`,
    `${await answering(noTls)}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`,
    await answering(...passwordAsked),
  ];
  for (const url of addresses) {
    const pool = new PostgresPool({ url, connections: 1 });
    const error: unknown = await pool.connect().catch((caught: unknown) => caught);
    expect(storageOutage(error)).toBe('The database cannot be reached. Nothing was stored.');
    await pool.end();
  }
});

test('where a password is asked for and none was given, that is said with where to put one', async () => {
  await expect(openStorage({ database: await answering(...passwordAsked) })).rejects.toThrow('PGPASSWORD');
});

test('that there is no connection left for hearing of decisions is said, until there is one', async () => {
  const database = await createDatabase();
  const name = new URL(database).pathname.slice(1);
  const storage = await openStorage({ database, connections: 1 });
  atTestEnd(() => storage.close());
  await storage.probe();
  await asSuperuser(`alter database ${name} connection limit 1`);
  await expect(storage.requireHearing()).resolves.toBeUndefined();
  storage.watch(() => {});
  await vi.waitFor(() =>
    expect(storage.requireHearing()).rejects.toThrow(
      `too many connections for database "${name}"), so a check that waits`,
    ),
  );
  await asSuperuser(`alter database ${name} connection limit -1`);
  await vi.waitFor(() => storage.requireHearing(), { timeout: 10_000 });
});

test('a file of the address that cannot be read fails the connections that are made meanwhile, and nothing else', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'actlog-ca-')), 'ca.pem');
  atTestEnd(async () => rmSync(dirname(file), { recursive: true, force: true }));
  writeFileSync(file, '');
  // Without TLS the file is read, and nothing comes of it.
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
  await vi.waitFor(() => expect(() => listener.requireHearing()).toThrow('ENOENT'));
  writeFileSync(file, '');
  (await pool.connect()).release();
  await vi.waitFor(() => listener.requireHearing(), { timeout: 10_000 });
});
