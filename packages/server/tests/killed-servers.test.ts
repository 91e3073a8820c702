import { copyFileSync, mkdtempSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startServer } from '../src/index.ts';
import { sentTo } from './audit-entries.ts';
import { ChildServer } from './child-server.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-survival-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
});

afterEach(() => {
  vi.useRealTimers();
});

test('scores the events of a killed server in the one beside it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
  const beside = await testServer(options);
  const body = { url, events: ['session.risk_raised'] };
  const { id } = await beside.ok('notificationChannels.create', { body });
  await sentTo(beside, 'POST', `/server/v1/webhooks/${id}/risk-level`, { riskLevel: 'medium' });
  const child = await ChildServer.start({ ...options, docs: false });
  const taken = new TestServer({ ...beside.server, url: child.url }, beside.apiKey);
  for (const toolName of ['fetch_web_page', 'get_credentials', 'send_email', 'delete_user']) {
    await taken.record(
      activityEvent({ payload: { toolName, argumentsHash: 'sha256:0', responseStatus: 200 } }),
    );
  }
  await child.kill();
  await vi.advanceTimersByTimeAsync(60_000);
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({ type: 'session.risk_raised', data: { sessionId: 'thread-1' } });
  await receiver.close();
  await beside.server.close();
});

test.skipIf(onPostgres)('responds 503 when the database is full, keeps its data, and recovers', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const server = await testServer({ database: join(folder, 'a.db'), maxDatabaseBytes: 1_000_000 });
  const payload = { text: 'x'.repeat(60_000) };
  let stored = 0;
  let refusal = 0;
  for (let index = 0; index < 40 && refusal === 0; index += 1) {
    const body = activityEvent({ category: 'note', payload });
    const response = await server.send('events.create', { body });
    if (response.status === 202) stored += 1;
    else {
      refusal = response.status;
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await response.json()).toMatchObject({ error: { code: 'OVERLOADED' } });
    }
  }
  expect([refusal, stored > 5]).toEqual([503, true]);
  expect((await server.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(stored);
  await server.server.admin.tenants.setRetention('default', 1);
  vi.setSystemTime(Date.now() + 2 * 24 * 3_600_000);
  await vi.advanceTimersByTimeAsync(600_000);
  await vi.waitFor(async () => {
    expect((await server.send('sessions.get', { id: 'thread-1' })).status).toBe(404);
  });
  await server.record({ category: 'note', payload });
});

test('agrees on tables and secret when servers start concurrently on a new file', async () => {
  const database = join(folder, 'a.db');
  const servers = await Promise.all(Array.from({ length: 4 }, () => testServer({ database })));
  await Promise.all(servers.map((server, index) => server.record({ sessionId: `s-${index}` })));
  const [first, second] = servers as [(typeof servers)[0], (typeof servers)[0]];
  const page = await first.ok('sessions.list', { query: { limit: 3 } });
  expect(page.items).toHaveLength(3);
  const rest = await second.ok('sessions.list', { query: { limit: 3, cursor: page.nextCursor as string } });
  expect(rest.items).toHaveLength(1);
});

test('decides an action once in two processes on one file, and notifies the waiting one', async () => {
  const database = join(folder, 'a.db');
  const [one, two] = [await testServer({ database }), await testServer({ database })];
  await one.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await one.check({ actionId: 'a' });
  const waiting = one.check({ actionId: 'a' }, { prefer: 'wait=20' });
  await two.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  expect((await waiting).decision).toBe('allow');
  const late = await one.send('guardian.pendingActions.decide', {
    id: id as string,
    body: { decision: 'deny' },
  });
  expect(late.status).toBe(409);
});

test.skipIf(onPostgres)(
  'keeps everything across a restart, and a restore from a backup made while running',
  async () => {
    const database = join(folder, 'a.db');
    const secret = 'a secret of more than thirty-two characters';
    const before = await testServer({ database, secret });
    await before.record({}, {}, {});
    await before.server.admin.backup(join(folder, 'copy.db'));
    await before.record({});
    await before.server.close();
    const restarted = await testServer({ database, secret });
    expect((await restarted.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(4);
    const restored = await testServer({ database: join(folder, 'copy.db'), secret });
    expect((await restored.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(3);
    expect((await restored.ok('sessions.risk', { id: 'thread-1' })).eventCount).toBe(3);
  },
);

test.skipIf(onPostgres)('is not ready when the writer thread has failed', async () => {
  const running = await startServer({ database: join(folder, 'a.db'), docs: false });
  const server = new TestServer(running, running.apiKey);
  const ready = async () => (await fetch(`${server.server.url}/readyz`)).status;
  expect(await ready()).toBe(200);
  const posts = vi.spyOn(Worker.prototype, 'postMessage');
  await server.record({});
  const thread = posts.mock.contexts[0] as Worker;
  posts.mockRestore();
  await thread.terminate();
  expect((await server.send('events.create', { body: activityEvent() })).status).toBe(503);
  expect(await ready()).toBe(503);
  // Its key can no longer be expired.
  await expect(running.close()).rejects.toThrow("The database's thread has failed");
});

test.skipIf(onPostgres).each<[string, (file: string) => void]>([
  ['removed', (file) => rmSync(file)],
  ['moved', (file) => renameSync(file, `${file}.old`)],
  ['emptied', (file) => truncateSync(file)],
  [
    'replaced',
    (file) => {
      copyFileSync(file, `${file}.new`);
      renameSync(`${file}.new`, file);
    },
  ],
])('acknowledges nothing in a file that was %s', async (_, harm) => {
  const database = join(folder, 'a.db');
  const running = await startServer({ database, docs: false });
  const server = new TestServer(running, running.apiKey);
  await server.record({});
  harm(database);
  const refused = await server.refused('events.create', { body: activityEvent() });
  expect([refused.status, refused.code]).toEqual([503, 'OVERLOADED']);
  expect((await server.refused('policies.create', { body: { name: 'a', effect: 'deny' } })).status).toBe(503);
  expect((await fetch(`${running.url}/readyz`)).status).toBe(503);
  await expect(running.close()).rejects.toThrow('was moved, removed, replaced or emptied');
});

test.skipIf(onPostgres)('is not ready when the database cannot be read', async () => {
  const database = join(folder, 'a.db');
  const running = await startServer({ database, docs: false });
  await new TestServer(running, running.apiKey).record({});
  truncateSync(`${database}-wal`);
  expect((await fetch(`${running.url}/readyz`)).status).toBe(503);
  // Its key can no longer be expired.
  await expect(running.close()).rejects.toThrow();
});

test.skipIf(onPostgres)('acknowledges nothing in a write-ahead log that was removed', async () => {
  const database = join(folder, 'a.db');
  const secret = 'a secret of more than thirty-two characters';
  const running = await startServer({ database, secret, docs: false });
  const server = new TestServer(running, running.apiKey);
  await server.record({});
  rmSync(`${database}-wal`);
  expect((await server.refused('events.create', { body: activityEvent() })).status).toBe(503);
  expect((await fetch(`${running.url}/readyz`)).status).toBe(503);
  await expect(running.close()).rejects.toThrow('The write-ahead log');
  // Events acknowledged before are in the database since it was closed.
  const restarted = await testServer({ database, secret });
  expect((await restarted.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(1);
});

test.skipIf(onPostgres)('continues when a file is put back', async () => {
  const database = join(folder, 'a.db');
  const server = await testServer({ database });
  renameSync(database, `${database}.old`);
  expect((await server.send('events.create', { body: activityEvent() })).status).toBe(503);
  renameSync(`${database}.old`, database);
  await server.record({});
  expect((await fetch(`${server.server.url}/readyz`)).status).toBe(200);
});

test.skipIf(onPostgres)('does not touch a database of a newer release', async () => {
  const { DatabaseSync } = await import('node:sqlite');
  const database = join(folder, 'a.db');
  await (await testServer({ database })).server.close();
  const connection = new DatabaseSync(database);
  connection.exec("insert into schema_migrations values ('9999-future', 1)");
  connection.close();
  await expect(testServer({ database })).rejects.toThrow('newer release');
});
