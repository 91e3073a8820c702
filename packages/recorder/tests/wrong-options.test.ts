import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { AdapterCalls, type AdapterOptions } from '../src/adapter/index.ts';
import { hashArguments, Recorder, type RecorderOptions } from '../src/index.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const service = { apiKey: 'al_test_x', baseURL: 'http://127.0.0.1:9' };

test.each<[Record<string, unknown>, RegExp]>([
  [{ spoolDir: false }, /^spoolDir must be of type string, got boolean: .*spool: false/],
  [{ spoolDir: '' }, /^spoolDir is empty: .*spool: false/],
  [{ spool: 'false' }, /^spool must be of type boolean, got string: omit it/],
  [{ fsync: 0 }, /^fsync must be of type boolean/],
  [{ agentId: 42 }, /^agentId must be of type string, got number/],
  [{ sdk: 5 }, /^sdk must be of type string/],
  [{ client: { apiKey: 'al_test_x' } }, /^client must be an Actlog/],
  [{ waitUntil: true }, /^waitUntil must be of type function/],
  [{ responseStatus: 200 }, /^responseStatus must be of type function/],
  [{ onDrop: 'log' }, /^onDrop must be of type function/],
  [{ onError: null }, /^onError must be of type function, got null/],
  [{ whenFull: true }, /^whenFull must be one of drop-oldest.*, got a value of type boolean/],
  [{ hashKey: false }, /^hashKey must be a string or bytes/],
  [{ hashKey: Array(32).fill(7) }, /^hashKey must be a string or bytes/],
  [{ hashKey: new Uint16Array(7) }, /^hashKey has 14 .* use at least 16/],
  [{ origins: 'yes' }, /^origins must be true, false or an object such as \{ maxSessionBytes/],
  [{ origins: null }, /^origins must be true, false or an object/],
  [
    { origins: { maxSessionBytes: 100 } },
    /^origins.maxSessionBytes must be a number of at least 16384, got 100/,
  ],
  [{ origins: { maxSessions: 0 } }, /^origins.maxSessions must be a number of at least 1, got 0/],
  [{ gaurd: { mode: 'enforce' } }, /^"gaurd" is not an option of the recorder: pass some of .*guard/],
  [{ guard: 'enforce' }, /^guard must be of type object, got string: .*mode: "enforce"/],
  [{ guard: ['enforce'] }, /^guard must be of type object, got array/],
  [{ guard: null }, /^guard must be of type object, got null/],
  [{ guard: { showArguments: ['to'] } }, /^guard.showArguments must be of type function/],
  [{ guard: { readDecision: { deny: 'no' } } }, /^guard.readDecision must be of type function/],
  [{ guard: { environment: 5 } }, /^guard.environment must be of type string/],
  [{ guard: { environment: 'production\n' } }, /^guard.environment must have at most 100 characters and no/],
  [{ guard: { environment: 'x'.repeat(101) } }, /^guard.environment must have at most 100 characters and no/],
])('rejects a recorder with %j, and leaves nothing behind', (options, message) => {
  const spoolDir = temporaryFolder();
  expect(() => new Recorder({ ...service, spoolDir, ...options } as RecorderOptions)).toThrow(message);
  expect(readdirSync(spoolDir)).toEqual([]);
});

test('rejects options that are not an object', () => {
  expect(() => new Recorder(null as never)).toThrow(/^options must be of type object/);
});

test.each([
  ['ACTLOG_GUARD', 'enforced', /^ACTLOG_GUARD must be one of off, observe, enforce, got "enforced"/],
  ['ACTLOG_ORIGINS', 'yes', /^ACTLOG_ORIGINS must be true or false, got "yes"/],
  ['ACTLOG_GUARD_ON_UNAVAILABLE', 'no', /^ACTLOG_GUARD_ON_UNAVAILABLE must be one of allow, deny, got "no"/],
])('names an invalid %s', (name, value, message) => {
  vi.stubEnv(name, value);
  expect(() => new Recorder({ ...service, spool: false })).toThrow(message);
  vi.unstubAllEnvs();
});

test.each<[Record<string, unknown>, RegExp]>([
  [{ include: ['search', 'delete_*'] }, /^include has "delete_\*", which no tool is named: .*expression/],
  [{ include: 'search' }, /^include must be a list of names and patterns, such as \["search"/],
  [{ exclude: [42] }, /^exclude must be a list of names and patterns/],
  [{ toolName: 'search' }, /^toolName must be of type function/],
  [{ responseStatus: 200 }, /^responseStatus must be of type function/],
  [{ sessionId: 42 }, /^sessionId must be of type string, got number/],
  [{ agentId: 42 }, /^agentId must be of type string/],
  [{ recorder: {} }, /^recorder must be a Recorder/],
  [{ guard: 'enforce' }, /^guard must be of type object/],
  [{ guard: false }, /^guard must be of type object/],
])('rejects an adapter with %j', (options, message) => {
  const recorder = new Recorder({ ...service, spool: false, exitTimeoutMs: 0 });
  const given = { recorder, ...options } as AdapterOptions;
  for (const canHold of [true, false]) {
    expect(() => new AdapterCalls({ framework: 'tiny', sdk: 'tiny', canHold }, given)).toThrow(message);
  }
});

test.each([['5000'], [Number.NaN], [null]])(
  'rejects a timeout of %j without losing events',
  async (given) => {
    const sink = await Sink.start();
    const dropped: unknown[] = [];
    const recorder = createRecorder(sink.url, { spool: false, onDrop: (event) => dropped.push(event) });
    recorder.record({ toolName: 'tool', arguments: {}, responseStatus: 200 });
    const options = { timeoutMs: given as number };
    const message = /^timeoutMs must be a number of milliseconds, got .* of type/;
    await expect(recorder.flush(options)).rejects.toThrow(message);
    await expect(recorder.close(options)).rejects.toThrow(message);
    expect(() => recorder.flushOnReturn(() => {}, options)).toThrow(message);
    expect(await recorder.close()).toMatchObject({ delivered: 1, dropped: 0 });
    expect(dropped).toEqual([]);
  },
);

test('never creates an unkeyed hash for an invalid key', async () => {
  await expect(hashArguments({ pin: 1234 }, { hashKey: 0 as never })).rejects.toThrow(/^hashKey must be/);
});

test('converts names that are not strings', async () => {
  const sink = await Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { status: 200, body: { decision: 'allow' } } : undefined,
  );
  const recorder = createRecorder(sink.url, { guard: { mode: 'enforce', onUnavailable: 'deny' } });
  const call = { toolName: 7, sessionId: 42, agentId: undefined, arguments: {} };
  await recorder.toolCall(call as never, () => 'ran');
  await recorder.toolCall({ ...call, toolName: undefined } as never, () => 'ran');
  await recorder.flush();
  const [first] = sink.requests.filter(({ path }) => path === '/v1/policies/check');
  expect(first?.body).toMatchObject({ sessionId: '42', action: { toolName: '7' } });
  expect(sink.stored.map(({ sessionId, payload }) => [sessionId, payload.toolName])).toEqual([
    ['42', '7'],
    ['42', 'unknown'],
  ]);
});
