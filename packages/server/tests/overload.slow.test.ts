import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, test, vi } from 'vitest';
import { newApiKey } from '../src/tenants/api-key.ts';
import { ChildServer } from './child-server.ts';
import { watchedStorages } from './storage-seam.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, type CallOptions, checkBody, readError, testServer } from './test-server.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-overload-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
});

test.skipIf(onPostgres)('refuses an event without room during a commit, and accepts it later', async () => {
  const database = join(folder, 'a.db');
  const server = await testServer({ database, maxQueuedBytes: 1, rateLimit: false });
  const other = new DatabaseSync(database);
  other.exec('begin immediate');
  const [one, two] = [activityEvent(), activityEvent()];
  const responses = [one, two].map((body) => server.send('events.create', { body }));
  const refused = await Promise.race(responses);
  other.close();
  const refusal = await readError(refused);
  expect([refusal.status, refusal.code, refusal.headers.get('retry-after')]).toEqual([
    503,
    'OVERLOADED',
    '1',
  ]);
  expect((await Promise.all(responses)).map(({ status }) => status).sort()).toEqual([202, 503]);
  await server.record(one, two);
  expect((await server.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(2);
});

test('refuses a check without room beside a waiting one, and still accepts events', async () => {
  const server = await testServer({ maxQueuedBytes: 1 });
  await server.policy({ effect: 'require_approval' });
  const waiting = server.check({}, { prefer: 'wait=25' });
  const held = await vi.waitFor(async () => {
    const [item] = (await server.ok('guardian.pendingActions.list')).items;
    return item ?? Promise.reject(new Error('No action is held yet.'));
  });
  const refused = await server.refused('policies.check', { body: checkBody() });
  expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([
    503,
    'OVERLOADED',
    '1',
  ]);
  await server.record({});
  await server.ok('guardian.pendingActions.decide', { id: held.id, body: { decision: 'approve' } });
  expect((await waiting).decision).toBe('allow');
  expect((await server.check()).decision).toBe('require_approval');
});

test('limits waiting checks to half of the memory, and responds to one beyond it at once', async () => {
  const server = await testServer({ maxQueuedBytes: 100_000 });
  await server.policy({ effect: 'require_approval' });
  const watched = watchedStorages();
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { text: 'x'.repeat(10_000) } };
  const prefer = { prefer: 'wait=25' };
  const waiting = server.check({ action, actionId: 'call-1' }, prefer);
  await vi.waitFor(() => expect(watched).toHaveLength(1));
  const second = server.send('policies.check', {
    body: checkBody({ action, actionId: 'call-2' }),
    headers: prefer,
  });
  await vi.waitFor(async () => {
    expect((await server.ok('guardian.pendingActions.list')).items).toHaveLength(2);
  });
  // Its own memory is free again once it has responded.
  expect((await second).headers.get('preference-applied')).toBeNull();
  expect(await (await second).json()).toMatchObject({ decision: 'require_approval' });
  const requested = await server.check({ action, actionId: 'call-3' });
  expect(requested.decision).toBe('require_approval');
  const { items } = await server.ok('guardian.pendingActions.list');
  for (const { id } of items) {
    await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  }
  expect((await waiting).decision).toBe('allow');
});

test('reserves memory for an arriving body until its sender disconnects', async () => {
  const server = await testServer({ maxQueuedBytes: 1 });
  const { hostname, port } = new URL(server.server.url);
  const sender = connect(Number(port), hostname);
  const head = ['POST /v1/events HTTP/1.1', 'host: x', `authorization: Bearer ${server.apiKey}`];
  // The server sends 100-continue once it has read the head.
  head.push('content-type: application/json', 'content-length: 1000', 'expect: 100-continue');
  sender.write(`${head.join('\r\n')}\r\n\r\n{`);
  await once(sender, 'data');
  const refused = await vi.waitFor(() => server.refused('events.create', { body: activityEvent() }));
  expect([refused.status, refused.code]).toEqual([503, 'OVERLOADED']);
  // Checks and other requests have separate memory.
  await server.policy({ effect: 'deny' });
  expect((await server.check()).decision).toBe('deny');
  sender.destroy();
  await vi.waitFor(() => server.record({}));
});

test.each([
  ['that is an event', 202, {}],
  ['that is no event', 400, { body: '{"category":"unknown"}' }],
  ['that is not JSON', 400, { body: '{' }],
  ['of another type', 415, { headers: { 'content-type': 'text/plain' } }],
  ['that is too long', 413, { body: 'x'.repeat(300_000) }],
])('releases the memory of a body %s with the response', async (_what, status, options: CallOptions) => {
  const server = await testServer({ maxQueuedBytes: 1 });
  for (let count = 0; count < 3; count += 1) {
    const response = await server.send('events.create', { body: activityEvent(), ...options });
    expect(response.status).toBe(status);
  }
  await server.record({});
});

// A quarter of a gigabyte is transferred from the database to this process.
test('survives concurrent, slowly read exports of large events with a small heap', {
  timeout: 120_000,
}, async () => {
  const apiKey = newApiKey('test');
  const options = { database: join(folder, 'a.db'), apiKey, docs: false };
  const child = await ChildServer.start(options, ['env', 'NODE_OPTIONS=--max-old-space-size=128']);
  try {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const payload = { text: 'x'.repeat(250_000) };
    // More than the buffers between two sockets hold, so that no export ends unread.
    for (let count = 0; count < 24; count += 1) {
      const body = JSON.stringify(activityEvent({ category: 'note', payload }));
      const { status } = await fetch(`${child.url}/v1/events`, { method: 'POST', headers, body });
      expect(status).toBe(202);
    }
    const url = `${child.url}/v1/sessions/thread-1/export.json`;
    // No body is read before all exports have started, so that all of them occupy memory at once.
    const started = await Promise.all(Array.from({ length: 200 }, () => fetch(url, { headers })));
    const sizes = { 200: new Set<boolean>(), 503: new Set<boolean>() };
    await Promise.all(
      started.map(async (response) => {
        const isWhole = (await response.bytes()).length > 6_000_000;
        sizes[response.status as 200 | 503].add(isWhole);
      }),
    );
    expect(sizes).toEqual({ 200: new Set([true]), 503: new Set([false]) });
    expect((await fetch(`${child.url}/readyz`)).status).toBe(200);
  } finally {
    await child.kill();
  }
});

test('survives bodies that take twenty times their size in memory with a small heap', async () => {
  const apiKey = newApiKey('test');
  const options = { database: join(folder, 'a.db'), apiKey, docs: false };
  const child = await ChildServer.start(options, ['env', 'NODE_OPTIONS=--max-old-space-size=128']);
  try {
    const payload = { list: Array.from({ length: 80_000 }, () => ({})) };
    const send = async () => {
      const response = await fetch(`${child.url}/v1/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(activityEvent({ category: 'note', payload })),
      });
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 100 }, send));
    expect(statuses.filter((status) => status !== 202 && status !== 503)).toEqual([]);
    expect((await fetch(`${child.url}/readyz`)).status).toBe(200);
    expect(await send()).toBe(202);
  } finally {
    await child.kill();
  }
});
