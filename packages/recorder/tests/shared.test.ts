import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { diagnosticsChannels, Recorder, sharedRecorder } from '../src/index.ts';
import { AgentProcess } from './agent-process.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

const key = Symbol.for('@actlog/recorder/shared');

/** Sets the environment and resets the shared recorder until the test ends. */
function withEnvironment(environment: Record<string, string>): void {
  for (const name of ['ACTLOG_API_KEY', 'ACTLOG_BASE_URL', 'ACTLOG_GUARD', 'ACTLOG_AGENT_ID'])
    vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const registry = globalThis as { [key]?: { recorder: Recorder } | undefined };
  registry[key] = undefined;
  onTestFinished(async () => {
    await registry[key]?.recorder.close({ timeoutMs: 0 });
    registry[key] = undefined;
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
}

test('configures one shared recorder from the environment', async () => {
  const sink = await Sink.start();
  withEnvironment({
    ACTLOG_API_KEY: 'al_test_shared',
    ACTLOG_BASE_URL: sink.url,
    ACTLOG_AGENT_ID: 'from-environment',
    ACTLOG_SPOOL_DIR: temporaryFolder(),
  });
  const recorder = sharedRecorder();
  expect(sharedRecorder({ agentId: 'ignored' })).toBe(recorder);
  expect(recorder.isConfigured).toBe(true);
  recordMany(recorder, 1);
  await recorder.flush();
  expect(sink.stored[0]?.agentId).toBe('from-environment');
});

test('trims line endings of a Windows file from variables', async () => {
  const sink = await Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { status: 200, body: { decision: 'deny' } } : undefined,
  );
  withEnvironment({
    ACTLOG_API_KEY: 'al_test_shared\r',
    ACTLOG_BASE_URL: `${sink.url}\r`,
    ACTLOG_AGENT_ID: 'from-environment\r',
    ACTLOG_SPOOL_DIR: `${temporaryFolder()}\r`,
    ACTLOG_GUARD: 'enforce\r',
    ACTLOG_GUARD_ON_UNAVAILABLE: 'allow\r',
    ACTLOG_ENVIRONMENT: 'production\r',
  });
  const call = sharedRecorder().toolCall({ toolName: 'tool', arguments: {} }, () => 'ran');
  await expect(call).rejects.toMatchObject({ because: 'denied' });
  expect(sink.requests[0]?.body).toMatchObject({ agentId: 'from-environment', environment: 'production' });
});

test('treats a blank key as missing', () => {
  withEnvironment({ ACTLOG_API_KEY: ' ', ACTLOG_BASE_URL: 'http://127.0.0.1:9' });
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  expect(sharedRecorder().isConfigured).toBe(false);
  expect(warn.mock.calls).toEqual([
    ['[actlog] Nothing is recorded: set ACTLOG_API_KEY, or pass a recorder.'],
  ]);
});

test('warns once and records nothing without a configuration', async () => {
  withEnvironment({});
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const recorder = sharedRecorder();
  sharedRecorder();
  expect(await recorder.toolCall({ toolName: 'tool', arguments: {} }, () => 'ok')).toBe('ok');
  recordMany(recorder, 1);
  expect(await recorder.flush()).toEqual({
    delivered: 0,
    pending: 0,
    spooled: 0,
    dropped: 0,
    deadLettered: 0,
  });
  expect(recorder.isConfigured).toBe(false);
  expect(warn.mock.calls).toEqual([
    ['[actlog] Nothing is recorded: set ACTLOG_API_KEY and ACTLOG_BASE_URL, or pass a recorder.'],
  ]);
});

test('denies calls without a configuration if the guard enforces', async () => {
  withEnvironment({ ACTLOG_GUARD: 'enforce', ACTLOG_GUARD_ON_UNAVAILABLE: 'deny' });
  const recorder = sharedRecorder({ onError: () => {} });
  await expect(recorder.toolCall({ toolName: 'tool', arguments: {} }, () => 'ok')).rejects.toMatchObject({
    because: 'unavailable',
  });
});

test('rejects a guard that differs from the first one', () => {
  withEnvironment({});
  const onError = () => {};
  const recorder = sharedRecorder({ onError, guard: { mode: 'off' } });
  expect(sharedRecorder({ guard: { mode: 'off' } })).toBe(recorder);
  expect(() => sharedRecorder({ guard: { mode: 'observe' } })).toThrow(/created with another guard/);
});

test.each([
  [{ whenFull: 'explode' as never }, /whenFull must be one of drop-oldest.*, got "explode"/],
  [{ maxQueuedEvents: 0 }, /maxQueuedEvents must be a number of at least 1/],
  [{ concurrency: Number.NaN }, /concurrency must be a number of at least 1/],
  [{ concurrency: Infinity }, /concurrency must be finite, got Infinity: pass a number, or omit it/],
  [{ requestTimeoutMs: Infinity }, /requestTimeoutMs must be finite/],
])('rejects an invalid option', (options, message) => {
  expect(() => new Recorder({ apiKey: 'al_test_x', baseURL: 'http://127.0.0.1:1', ...options })).toThrow(
    message,
  );
});

test('publishes diagnostics about events', async () => {
  const sink = await Sink.start(({ number }) => (number === 1 ? { status: 503 } : undefined));
  // The channels are those of the process, in which recorders of other tests may still deliver.
  const seen: { readonly name: string; readonly eventId: unknown }[] = [];
  for (const [name, channel] of Object.entries(diagnosticsChannels)) {
    const listener = (message: unknown) => seen.push({ name, ...(message as { eventId: unknown }) });
    subscribe(channel, listener);
    onTestFinished(() => void unsubscribe(channel, listener));
  }
  const recorder = createRecorder(sink.url);
  const [eventId] = recordMany(recorder, 1);
  await recorder.flush();
  const names = seen.filter((message) => message.eventId === eventId).map(({ name }) => name);
  expect(names).toEqual(['recorded', 'retried', 'delivered']);
});

test('passes one promise per burst to waitUntil', async () => {
  const sink = await Sink.start();
  const promises: Promise<unknown>[] = [];
  const recorder = createRecorder(sink.url, { waitUntil: (promise) => promises.push(promise) });
  recordMany(recorder, 10);
  expect(promises.length).toBe(1);
  await Promise.all(promises);
  expect(sink.stored.length).toBe(10);
});

test('reports an error of waitUntil without losing events', async () => {
  const sink = await Sink.start();
  const errors: Error[] = [];
  const recorder = createRecorder(sink.url, {
    waitUntil: () => {
      throw new Error('no request is in progress');
    },
    onError: (error) => errors.push(error as Error),
  });
  recordMany(recorder, 1);
  await recorder.flush();
  expect(sink.stored.length).toBe(1);
  expect(errors.map(({ message }) => message)).toEqual(['waitUntil threw; events are delivered without it.']);
});

test('delays a handler until its events are delivered, keeping its result and error', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url);
  const handler = recorder.flushOnReturn(async (count: number) => {
    recordMany(recorder, count);
    if (count > 5) throw new Error('too many');
    return count;
  });
  expect(await handler(3)).toBe(3);
  expect(sink.stored.length).toBe(3);
  await expect(handler(6)).rejects.toThrow('too many');
  expect(sink.stored.length).toBe(9);
});

test('keeps the this of a handler', async () => {
  const recorder = createRecorder('http://127.0.0.1:9', { spool: false });
  const shop = {
    name: 'shop',
    handle: recorder.flushOnReturn(function (this: { name: string }, order: number) {
      return `${this.name} ${order}`;
    }),
  };
  expect(await shop.handle(7)).toBe('shop 7');
});

test('leaves undelivered events of a closed recorder to the next one', async () => {
  const sink = await Sink.start();
  await sink.down();
  const spoolDir = temporaryFolder();
  const first = createRecorder(sink.url, { spoolDir });
  const ids = recordMany(first, 30);
  expect(await first.close({ timeoutMs: 10 })).toMatchObject({ delivered: 0, pending: 30, spooled: 30 });
  await sink.up();
  const second = createRecorder(sink.url, { spoolDir });
  const more = recordMany(second, 5);
  expect(await second.close()).toMatchObject({ delivered: 35, pending: 0, spooled: 0 });
  expect(second.stats()).toMatchObject({ recorded: 5, adopted: 30 });
  expect(sink.storedIds.toSorted()).toEqual([...ids, ...more].toSorted());
});

test('keeps events in memory if the folder is not writable, and reports it once', async () => {
  const sink = await Sink.start();
  const errors: string[] = [];
  const recorder = createRecorder(sink.url, {
    spoolDir: '/dev/null/spool',
    onError: ({ message }) => errors.push(message),
  });
  recordMany(recorder, 20);
  expect(await recorder.flush()).toMatchObject({ delivered: 20, pending: 0 });
  expect(errors).toEqual([
    expect.stringMatching(/^The journal failed \(ENOTDIR\)\. Events are kept only in memory/),
  ]);
});

test('flushes events to disk with fsync', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { fsync: true });
  recordMany(recorder, 20);
  expect(await recorder.flush()).toMatchObject({ delivered: 20 });
});

test("writes events to the journal without fsync under Node's permission model, and reports it", async () => {
  const sink = await Sink.start();
  await sink.down();
  const env = { SINK_URL: sink.url, SPOOL: temporaryFolder() };
  const NODE_OPTIONS = '--permission --allow-fs-read=* --allow-fs-write=*';
  const LIMITS = JSON.stringify({ fsync: true });
  const agent = new AgentProcess({ ...env, NODE_OPTIONS, LIMITS, MODE: 'exit', COUNT: '5' });
  expect(await agent.end()).toBe(7);
  expect(agent.dropped).toEqual([]);
  expect(agent.stderr).toMatch(/fsync is not available.* without --permission/);
  await sink.up();
  await new AgentProcess({ ...env, MODE: 'drain', COUNT: '0' }).end();
  expect(sink.storedIds.toSorted()).toEqual(agent.recorded.toSorted());
});

test('limits times to the longest timer', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { requestTimeoutMs: 2 ** 31, fetch: globalThis.fetch });
  recordMany(recorder, 5);
  expect(await recorder.flush()).toMatchObject({ delivered: 5 });
});

test('leaves nothing behind after rejecting an option', () => {
  const spoolDir = temporaryFolder();
  const exitListeners = process.listenerCount('exit');
  const options = { apiKey: 'al_test_x', baseURL: 'http://127.0.0.1:9', spoolDir, hashKey: 'short' };
  expect(() => new Recorder(options)).toThrow(/hashKey/);
  expect(readdirSync(spoolDir)).toEqual([]);
  expect(process.listenerCount('exit')).toBe(exitListeners);
});
