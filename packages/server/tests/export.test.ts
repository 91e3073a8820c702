import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { dropExpiredSessions } from '../src/background/background-tasks.ts';
import { openStorage } from '../src/open-storage.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

async function exported(server: TestServer, id: string): Promise<{ text: string; response: Response }> {
  const response = await server.send('sessions.export', { id });
  return { text: await response.text(), response };
}

/** Returns the bytes of the events array in the document. */
function eventsArray(text: string): string {
  const start = text.indexOf('"events":[') + '"events":'.length;
  return text.slice(start, text.lastIndexOf(']') + 1);
}

test('exports a session with its risk, all events and a hash of them', async () => {
  const server = await testServer();
  const times = Array.from({ length: 1203 }, (_, index) => new Date(Date.UTC(2026, 10, 20, 0, 0, index)));
  await server.recordMany(times.map((time) => ({ sourceTimestamp: time.toISOString() })));
  await server.ok('sessions.export', { id: 'thread-1' });
  const { text, response } = await exported(server, 'thread-1');
  const document = JSON.parse(text);
  expect(Object.keys(document)).toEqual([
    'exportVersion',
    'exportedAt',
    'session',
    'risk',
    'events',
    'eventCount',
    'contentSha256',
  ]);
  expect(document.eventCount).toBe(1203);
  expect(document.events.map((event: { sourceTimestamp: string }) => event.sourceTimestamp)).toEqual(
    times.map((time) => time.toISOString()),
  );
  expect(document.session).toEqual((await server.ok('sessions.list')).items[0]);
  expect(document.risk.eventCount).toBe(1203);
  expect(createHash('sha256').update(eventsArray(text)).digest('hex')).toBe(document.contentSha256);
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="session-thread-1.json"');
});

test('has no gap and no empty part at a page boundary', { timeout: 120_000 }, async () => {
  const server = await testServer();
  for (const count of [500, 1000]) {
    const sessionId = `s-${count}`;
    await server.recordMany(Array.from({ length: count }, () => ({ sessionId })));
    const document = JSON.parse((await exported(server, sessionId)).text);
    expect([document.eventCount, document.events.length]).toEqual([count, count]);
  }
});

test('removes characters from the file name that are invalid in headers or file systems', async () => {
  const server = await testServer();
  const id = '../a/"b"; x=é\u202e';
  await server.record({ sessionId: id });
  const { response } = await exported(server, id);
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="session-.._a_b_x_.json"');
});

test('breaks off, without looking complete, when its session is deleted meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-export-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = { database: join(folder, 'actlog.db') };
  const server = await testServer(options);
  // More than the buffers between two sockets hold, so that unread events are not queried yet.
  const event = { category: 'note', payload: { text: 'x'.repeat(40_000) } };
  await server.recordMany(Array.from({ length: 400 }, () => event));
  const headers = { authorization: `Bearer ${server.apiKey}` };
  const requested = get(`${server.server.url}/v1/sessions/thread-1/export.json`, { headers });
  const [response] = (await once(requested, 'response')) as [IncomingMessage];
  await server.server.admin.tenants.setRetention(server.tenant, { sessions: 1 });
  const { database = '' } = await withTestDatabase(options);
  const storage = await openStorage({ database, connections: 2 });
  expect(await dropExpiredSessions(storage, Date.now() + 2 * 24 * 3_600_000)).toBe(1);
  await storage.close();
  await expect(textOf(response)).rejects.toThrow('aborted');
});

test('drops an export that nobody reads, which makes room for others', async () => {
  const server = await testServer({ requestTimeoutMs: 1000, maxQueuedBytes: 1 });
  const payload = { text: 'x'.repeat(250_000) };
  await server.record(...Array.from({ length: 60 }, () => ({ category: 'note', payload })));
  const headers = { authorization: `Bearer ${server.apiKey}` };
  const url = `${server.server.url}/v1/sessions/thread-1/export.json`;
  const [unread] = (await once(get(url, { headers, agent: false }), 'response')) as [IncomingMessage];
  const refused = await server.refused('sessions.export', { id: 'thread-1' });
  expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([
    503,
    'OVERLOADED',
    '1',
  ]);
  await vi.waitFor(async () => {
    const { status } = await server.send('sessions.export', { id: 'thread-1' });
    expect(status).toBe(200);
  }, 10_000);
  await expect(once(unread.resume(), 'end')).rejects.toThrow('aborted');
});
