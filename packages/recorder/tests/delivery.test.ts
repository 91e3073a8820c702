import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { matchesArguments } from '../src/index.ts';
import { temporaryFolder, tenantFolderIn } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

/** Returns `true` if the events of each session arrived in the order of their recording. */
function isInOrder(sink: Sink, ids: readonly string[]): boolean {
  const rank = new Map(ids.map((id, index) => [id, index]));
  const last = new Map<string, number>();
  return sink.stored.every(({ sessionId, eventId }) => {
    const isLater = (rank.get(eventId) ?? -1) > (last.get(sessionId) ?? -1);
    last.set(sessionId, rank.get(eventId) ?? -1);
    return isLater;
  });
}

test('sends an event and headers as specified', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, {
    framework: 'custom',
    agentVersion: '1.2.3',
    agentId: 'agent 7',
  });
  const eventId = recorder.record({
    toolName: 'search',
    arguments: { query: 'weather' },
    responseStatus: 404,
    sessionId: 'session 1',
    sourceTimestamp: new Date(0),
  });
  expect(await recorder.flush()).toEqual({
    delivered: 1,
    pending: 0,
    spooled: 0,
    dropped: 0,
    deadLettered: 0,
  });
  const [request] = sink.requests;
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer al_test_recorder',
    'content-type': 'application/json',
    'x-service-framework': 'custom',
    'x-service-agent-version': '1.2.3',
    'x-service-sdk': expect.stringMatching(/^@actlog\/recorder\/\d/),
  });
  const [event] = sink.stored;
  expect(event).toEqual({
    eventId,
    agentId: 'agent 7',
    sessionId: 'session 1',
    sourceTimestamp: '1970-01-01T00:00:00.000Z',
    category: 'tool_api',
    schemaVersion: '1.0',
    payload: { toolName: 'search', argumentsHash: expect.any(String), responseStatus: 404 },
  });
  const { argumentsHash: hash } = (event as { payload: { argumentsHash: string } }).payload;
  expect(await matchesArguments(hash, { query: 'weather' })).toBe(true);
});

test.each([undefined, null, 'yesterday', Number.NaN])(
  'uses the recording time for a sourceTimestamp of %s',
  async (sourceTimestamp) => {
    const sink = await Sink.start();
    const recorder = createRecorder(sink.url);
    const beforeMs = Date.now();
    recorder.record({
      toolName: 'search',
      arguments: {},
      responseStatus: 200,
      sourceTimestamp: sourceTimestamp as never,
    });
    await recorder.flush();
    expect(Date.parse(String(sink.stored[0]?.sourceTimestamp))).toBeGreaterThanOrEqual(beforeMs);
  },
);

test.each([
  ['a journal', {}],
  ['memory only', { spool: false }],
])('delivers every event once and in order, with %s', async (_name, options) => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, options);
  const ids = recordMany(recorder, 500);
  expect(await recorder.flush()).toMatchObject({ delivered: 500, pending: 0 });
  expect(sink.requests.length).toBe(500);
  expect(sink.storedIds.toSorted()).toEqual(ids.toSorted());
  expect(isInOrder(sink, ids)).toBe(true);
});

test('keeps events beyond the memory limit on disk, in order', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { maxQueuedEvents: 20 });
  const ids = recordMany(recorder, 1_000);
  expect(recorder.stats()).toMatchObject({ pending: 1_000, spooled: 1_000 });
  expect(await recorder.flush()).toMatchObject({ delivered: 1_000, pending: 0 });
  expect(sink.storedIds.toSorted()).toEqual(ids.toSorted());
  expect(isInOrder(sink, ids)).toBe(true);
});

test('sends new events after those waiting on disk', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { maxQueuedEvents: 20, concurrency: 2 });
  const ids: string[] = [];
  for (let burst = 1; burst <= 20; burst += 1) {
    ids.push(...recordMany(recorder, 50, 2));
    await sink.until(() => sink.stored.length >= burst * 20);
  }
  expect(await recorder.flush()).toMatchObject({ delivered: 1_000, pending: 0 });
  expect(isInOrder(sink, ids)).toBe(true);
});

test.each<
  [string, (number: number) => { status?: number; fault?: 'reset' | 'reset-stored' | 'cut' } | undefined]
>([
  ['503 and 502', (number) => (number < 10 ? { status: number % 2 ? 503 : 502 } : undefined)],
  [
    'connections that break before the response',
    (number) => (number % 7 === 3 ? { fault: 'reset' } : undefined),
  ],
  [
    'connections that break after the event was stored',
    (number) => (number % 7 === 3 ? { fault: 'reset-stored' } : undefined),
  ],
  ['answers that break off', (number) => (number % 3 === 0 ? { fault: 'cut' } : undefined)],
])('loses and duplicates nothing and keeps the order, with %s', async (_name, fault) => {
  const sink = await Sink.start(({ number }) => fault(number));
  const recorder = createRecorder(sink.url);
  const ids = recordMany(recorder, 60);
  expect(await recorder.flush()).toMatchObject({ delivered: 60, pending: 0, dropped: 0 });
  expect(sink.storedIds.toSorted()).toEqual(ids.toSorted());
  expect(isInOrder(sink, ids)).toBe(true);
});

test('sends one probe at a time to a service that is down, and everything when it is back', async () => {
  const sink = await Sink.start();
  await sink.down();
  const recorder = createRecorder(sink.url, { concurrency: 8 });
  const ids = recordMany(recorder, 100);
  expect(await recorder.flush({ timeoutMs: 700 })).toMatchObject({
    delivered: 0,
    pending: 100,
    spooled: 100,
  });
  expect(recorder.stats().retried).toBeLessThan(20);
  await sink.up();
  expect(await recorder.flush()).toMatchObject({ delivered: 100, pending: 0 });
  expect(isInOrder(sink, ids)).toBe(true);
});

test('pauses everything for one Retry-After', async () => {
  let isOver = false;
  const sink = await Sink.start(() =>
    isOver ? undefined : { status: 429, headers: { 'retry-after': '1' } },
  );
  const recorder = createRecorder(sink.url, { concurrency: 4 });
  recordMany(recorder, 100, 50);
  await sink.until(() => sink.requests.length >= 4);
  isOver = true;
  const before = sink.requests.length;
  expect(before).toBe(4);
  expect(await recorder.flush()).toMatchObject({ delivered: 100 });
  expect(recorder.stats().retried).toBe(4);
});

test('moves a permanently rejected event to the dead-letter file without blocking others', async () => {
  const sink = await Sink.start(({ body }) =>
    (body.payload as { toolName: string }).toolName === 'tool 3'
      ? { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: 'toolName is bad' } } }
      : undefined,
  );
  const errors: string[] = [];
  const spoolDir = temporaryFolder();
  const recorder = createRecorder(sink.url, { spoolDir, onError: ({ message }) => errors.push(message) });
  const ids = recordMany(recorder, 10, 1);
  expect(await recorder.flush()).toMatchObject({ delivered: 9, pending: 0, deadLettered: 1, dropped: 0 });
  expect(sink.storedIds).toEqual(ids.filter((_, index) => index !== 3));
  const [line] = readFileSync(join(tenantFolderIn(spoolDir), 'dead-letters.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  expect(JSON.parse(line as string)).toEqual({
    deadLetteredAt: expect.any(String),
    reason: 'HTTP 400: VALIDATION_ERROR: toolName is bad',
    event: expect.objectContaining({ eventId: ids[3] }),
  });
  expect(errors).toEqual([expect.stringContaining('toolName is bad')]);
});

test("does not reject events because of a proxy's error page", async () => {
  let isMended = false;
  // The response of nginx to plain HTTP on its TLS port, and to a client with an expired certificate.
  const page = '<html><head><title>400 The SSL certificate error</title></head></html>';
  const sink = await Sink.start(() => (isMended ? undefined : { status: 400, body: page }));
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, { onError: ({ message }) => errors.push(message) });
  recordMany(recorder, 20, 1);
  await sink.until(() => sink.requests.length >= 2);
  expect(recorder.stats()).toMatchObject({ deadLettered: 0, pending: 20 });
  isMended = true;
  expect(await recorder.flush()).toMatchObject({ delivered: 20, pending: 0, deadLettered: 0 });
  expect(errors).toEqual([]);
});

test('rotates a full dead-letter file', async () => {
  const sink = await Sink.start(() => ({ status: 413 }));
  const spoolDir = temporaryFolder();
  const recorder = createRecorder(sink.url, { spoolDir, onError: () => {} });
  const file = join(tenantFolderIn(spoolDir), 'dead-letters.jsonl');
  const fileBefore = join(tenantFolderIn(spoolDir), 'dead-letters.1.jsonl');
  const full = Buffer.alloc(16 * 1024 * 1024 + 1, '\n');
  writeFileSync(file, full);
  writeFileSync(fileBefore, 'the one before');
  const [id] = recordMany(recorder, 1);
  expect(await recorder.flush()).toMatchObject({ deadLettered: 1 });
  expect(readFileSync(fileBefore).equals(full)).toBe(true);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ event: { eventId: id } });
});

test('reports a service that accepts nothing for days at once, with the reason', async () => {
  const message = 'The quota eventsPerMonth of the tenant is used up.';
  const sink = await Sink.start(() => ({
    status: 429,
    headers: { 'retry-after': '694338' },
    body: { error: { code: 'RATE_LIMITED', message } },
  }));
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, { onError: ({ message }) => errors.push(message) });
  recordMany(recorder, 1);
  expect(await recorder.flush({ timeoutMs: 300 })).toMatchObject({ pending: 1, dropped: 0 });
  expect(errors).toEqual([
    `The service at ${sink.url} accepts no events for now: HTTP 429: RATE_LIMITED: ${message.slice(0, -1)}. Events are kept and retried.`,
  ]);
});

test.each([
  ['session', 'sessionId'],
  ['agent', 'agentId'],
])('delivers events of existing ones to a service without room for a new %s', async (_, path) => {
  const message = 'The quota of the tenant is exhausted.';
  const details = [{ path, code: 'quota_exceeded', message: 'exceeds the quota' }];
  const sink = await Sink.start(({ body }) =>
    body.sessionId === 'new'
      ? {
          status: 429,
          headers: { 'retry-after': '3600' },
          body: { error: { code: 'RATE_LIMITED', message, details } },
        }
      : undefined,
  );
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, { onError: ({ message }) => errors.push(message) });
  const call = { toolName: 'search', arguments: {}, responseStatus: 200 };
  recorder.record({ ...call, sessionId: 'new' });
  await vi.waitUntil(() => errors.length > 0);
  for (let number = 0; number < 20; number += 1) recorder.record({ ...call, sessionId: 'known' });
  await vi.waitUntil(() => recorder.stats().delivered === 20);
  expect(await recorder.flush({ timeoutMs: 100 })).toMatchObject({ pending: 1, dropped: 0 });
  expect(errors).toEqual([expect.stringContaining(message.slice(0, -1))]);
});

test('keeps all events until a rejected key is fixed', async () => {
  let isMended = false;
  const sink = await Sink.start(() => (isMended ? undefined : { status: 401 }));
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, { onError: ({ message }) => errors.push(message) });
  recordMany(recorder, 20);
  expect(await recorder.flush({ timeoutMs: 300 })).toMatchObject({
    pending: 20,
    deadLettered: 0,
    dropped: 0,
  });
  expect(errors[0]).toMatch(/HTTP 401.*Check the API key/);
  expect(errors.join()).not.toContain('al_test_recorder');
  isMended = true;
  expect(await recorder.flush()).toMatchObject({ delivered: 20, pending: 0 });
});

test('times out on a service that does not respond', async () => {
  const sink = await Sink.start(({ number }) => (number <= 4 ? { fault: 'hang' } : undefined));
  const recorder = createRecorder(sink.url, { concurrency: 4, requestTimeoutMs: 1_000 });
  recordMany(recorder, 30);
  expect(await recorder.flush()).toMatchObject({ delivered: 30, pending: 0 });
});

test.each([
  ['the pool', undefined],
  ['a fetch', fetch],
])('over %s, loses no event to a web page that temporarily responds instead', async (_way, ownFetch) => {
  let isPage = true;
  const sink = await Sink.start(() => (isPage ? { status: 200, body: '<html>Sign in</html>' } : undefined));
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, {
    fetch: ownFetch,
    onError: ({ message }) => errors.push(message),
  });
  recordMany(recorder, 3);
  await sink.until(() => sink.requests.length > 0);
  isPage = false;
  expect(await recorder.flush()).toMatchObject({ delivered: 3, pending: 0 });
  const [first, ...later] = sink.requests.map(({ body }) => body.eventId);
  expect(later).toContain(first);
  expect(errors[0]).toMatch(/HTTP 200 without an acknowledgement.*the address/);
});

test('uses the fetch of the user', async () => {
  const sink = await Sink.start(({ number }) => (number % 5 === 0 ? { fault: 'reset' } : undefined));
  let calls = 0;
  const recorder = createRecorder(sink.url, {
    fetch: (url, init) => {
      calls += 1;
      return fetch(url, init);
    },
  });
  const ids = recordMany(recorder, 40);
  expect(await recorder.flush()).toMatchObject({ delivered: 40, pending: 0 });
  expect(calls).toBe(sink.requests.length);
  expect(sink.storedIds.toSorted()).toEqual(ids.toSorted());
});
