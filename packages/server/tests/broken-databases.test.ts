import { copyFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startServer } from '../src/index.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, TestServer, testServer } from './test-server.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-survival-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
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
  await server.server.admin.tenants.setRetention('default', { sessions: 1 });
  vi.setSystemTime(Date.now() + 2 * 24 * 3_600_000);
  await vi.advanceTimersByTimeAsync(600_000);
  await vi.waitFor(async () => {
    expect((await server.send('sessions.get', { id: 'thread-1' })).status).toBe(404);
  });
  await server.record({ category: 'note', payload });
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
  const posts = vi.spyOn(Worker.prototype, 'postMessage');
  const running = await startServer({ database: join(folder, 'a.db'), docs: false });
  const thread = posts.mock.contexts[0] as Worker;
  posts.mockRestore();
  const server = new TestServer(running, running.apiKey);
  const ready = async () => (await fetch(`${server.server.url}/readyz`)).status;
  expect(await ready()).toBe(200);
  await server.record({});
  await thread.terminate();
  expect((await server.send('events.create', { body: activityEvent() })).status).toBe(503);
  expect(await ready()).toBe(503);
  // Its key can no longer be expired.
  await expect(running.close()).rejects.toThrow("The database's thread has failed");
});

test.skipIf(onPostgres)('leaves no thread and no open file of a database that cannot be opened', async () => {
  const database = join(folder, 'notes.txt');
  writeFileSync(database, 'These are my notes, and no database.\n'.repeat(50));
  const threads = vi.spyOn(Worker.prototype, 'on');
  const closes = vi.spyOn(DatabaseSync.prototype, 'close');
  await expect(startServer({ database, docs: false })).rejects.toThrow(/cannot be opened: file is not/);
  expect(threads).not.toHaveBeenCalled();
  expect(closes).toHaveBeenCalledOnce();
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
