import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { storageOutage } from '../../src/storage/outage.ts';
import { PostgresPool } from '../../src/storage/postgres/pool.ts';
import { LocalPostgres } from '../local-postgres.ts';
import { testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { activityEvent, type TestServer, testServer } from '../test-server.ts';

/** Starts a PostgreSQL that a test may stop, with a server on it. `reach` may redirect the server's connections. */
async function stoppable(
  reach = async (url: string) => url,
): Promise<{ postgres: LocalPostgres; server: TestServer }> {
  const postgres = await LocalPostgres.create();
  if (typeof postgres === 'string') throw new Error(postgres);
  atTestEnd(() => postgres.destroy());
  await postgres.query('postgres', 'create role actlog login');
  await postgres.query('postgres', 'create database own owner actlog');
  const database = await reach(postgres.url('own', 'actlog'));
  return { postgres, server: await testServer({ database, secret: testSecret }) };
}

/** Starts a proxy that breaks the connection before the response to each commit of a write, while `isLossy`. */
async function lossyCommits(url: string): Promise<{ url: string; isLossy: boolean }> {
  const address = new URL(url);
  const port = Number(address.port);
  const proxy = createServer((client) => {
    let isWriting = false;
    let isCommitting = false;
    const database = connect(port, '127.0.0.1');
    client.on('data', (bytes) => {
      if (bytes.includes('begin ')) isWriting = bytes.includes('read committed');
      isCommitting = route.isLossy && isWriting && bytes.includes('commit\0');
      database.write(bytes);
    });
    database.on('data', (bytes) => (isCommitting ? client.destroy() : client.write(bytes)));
    for (const [side, other] of [
      [client, database],
      [database, client],
    ] as const) {
      side.on('error', () => {}).on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  atTestEnd(async () => void proxy.close());
  address.port = String((proxy.address() as AddressInfo).port);
  const route = { url: address.href, isLossy: false };
  return route;
}

test('responds 503 with Retry-After during an outage, and recovers', {
  timeout: 60_000,
}, async () => {
  const { postgres, server } = await stoppable();
  await server.record({});
  const ready = async () => (await fetch(`${server.server.url}/readyz`)).status;
  expect(await ready()).toBe(200);

  await postgres.stop();
  for (const name of ['events.create', 'sessions.list', 'policies.check', 'agents.create'] as const) {
    const bodies = {
      'events.create': { body: activityEvent() },
      'sessions.list': {},
      'policies.check': { body: { agentId: 'a', action: { toolName: 't', argumentsHash: 'sha256:aa' } } },
      'agents.create': { body: { name: 'A' } },
    };
    const error = await server.refused(name, bodies[name]);
    expect(error).toMatchObject({ status: 503, code: 'OVERLOADED' });
    expect(Number(error.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  expect(await ready()).toBe(503);

  await postgres.start();
  const body = activityEvent();
  await vi.waitFor(async () => expect((await server.send('events.create', { body })).status).toBe(202), {
    timeout: 20_000,
    interval: 50,
  });
  expect(await ready()).toBe(200);
  expect((await server.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(2);
});

test('says that the outcome is unknown when the response to a commit is lost', async () => {
  let route = { url: '', isLossy: false };
  const { server } = await stoppable(async (url) => {
    route = await lossyCommits(url);
    return route.url;
  });
  route.isLossy = true;
  const lost = await server.refused('agents.create', { body: { name: 'A' } });
  expect(lost).toMatchObject({ status: 503, code: 'OVERLOADED' });
  expect(lost.message).toMatch('The outcome is unknown');
  route.isLossy = false;
  expect((await server.ok('agents.list', {})).items).toMatchObject([{ name: 'A' }]);
});

test('delivers a decision to a waiting check despite an outage in between', {
  timeout: 60_000,
}, async () => {
  const { postgres, server } = await stoppable();
  const other = await testServer({ database: postgres.url('own', 'actlog'), secret: testSecret });
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await server.check({ actionId: 'a' });
  const waiting = server.check({ actionId: 'a' }, { prefer: 'wait=25' });
  await listening(postgres);
  // Closes only the connection that listens; requests can still use the database.
  await postgres.query(
    'own',
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'actlog listener'`,
  );
  await other.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  expect((await waiting).decision).toBe('allow');
});

/** Resolves when a server listens for commits of others. */
async function listening(postgres: LocalPostgres): Promise<void> {
  await vi.waitFor(async () => {
    const found = await postgres.query(
      'own',
      `select 1 from pg_stat_activity where application_name = 'actlog listener' and query = 'listen actlog'`,
    );
    expect(found).not.toEqual([]);
  });
}

/** Returns a message of PostgreSQL's protocol: https://www.postgresql.org/docs/current/protocol-message-formats.html */
function message(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

test('fails only the connection that breaks while it is opened', async () => {
  const welcome = [message('R', '\0\0\0\0'), message('Z', 'I')];
  const farewell = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0');
  const shuttingDown = createServer((socket) => {
    socket.once('data', () => socket.end(Buffer.concat([...welcome, farewell])));
  }).listen(0, '127.0.0.1');
  await once(shuttingDown, 'listening');
  const { port } = shuttingDown.address() as AddressInfo;
  const pool = new PostgresPool({ url: `postgres://nobody@127.0.0.1:${port}/none`, connections: 1 });
  atTestEnd(async () => {
    await pool.end();
    shuttingDown.close();
  });
  const connection = await pool.connect();
  const error: unknown = await connection.query('select 1', []).catch((caught: unknown) => caught);
  connection.release();
  expect(storageOutage(error)).toBe('The database cannot be reached. Nothing was stored.');
});
