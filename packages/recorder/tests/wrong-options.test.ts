import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { AdapterCalls, type AdapterOptions } from '../src/adapter/index.ts';
import { hashArguments, Recorder, type RecorderOptions } from '../src/index.ts';
import { temporaryFolder } from './journal-fixture.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const service = { apiKey: 'al_test_x', baseURL: 'http://127.0.0.1:9' };

test.each<[Record<string, unknown>, RegExp]>([
  [{ spoolDir: false }, /^spoolDir must be of type string, and is of type boolean: .*spool: false/],
  [{ spoolDir: '' }, /^spoolDir is empty: .*spool: false/],
  [{ spool: 'false' }, /^spool must be of type boolean, and is of type string: leave it out/],
  [{ fsync: 0 }, /^fsync must be of type boolean/],
  [{ agentId: 42 }, /^agentId must be of type string, and is of type number/],
  [{ sdk: 5 }, /^sdk must be of type string/],
  [{ client: { apiKey: 'al_test_x' } }, /^client must be an Actlog/],
  [{ waitUntil: true }, /^waitUntil must be of type function/],
  [{ responseStatus: 200 }, /^responseStatus must be of type function/],
  [{ onDrop: 'log' }, /^onDrop must be of type function/],
  [{ onError: null }, /^onError must be of type function, and is of type null/],
  [{ whenFull: true }, /^whenFull is of type boolean: use one of drop-oldest/],
  [{ hashKey: false }, /^hashKey must be text or bytes/],
  [{ hashKey: Array(32).fill(7) }, /^hashKey must be text or bytes/],
  [{ hashKey: new Uint16Array(7) }, /^hashKey has 14 .* use at least 16/],
  [{ guard: 'enforce' }, /^guard must be of type object, and is of type string: .*mode: "enforce"/],
  [{ guard: ['enforce'] }, /^guard must be of type object, and is of type array/],
  [{ guard: null }, /^guard must be of type object, and is of type null/],
  [{ guard: { showArguments: ['to'] } }, /^guard.showArguments must be of type function/],
  [{ guard: { environment: 5 } }, /^guard.environment must be of type string/],
  [{ guard: { environment: 'production\n' } }, /^guard.environment must be at most 100 characters, none/],
  [{ guard: { environment: 'x'.repeat(101) } }, /^guard.environment must be at most 100 characters, none/],
])('a recorder with %j is refused, and leaves nothing behind', (options, message) => {
  const spoolDir = temporaryFolder();
  expect(() => new Recorder({ ...service, spoolDir, ...options } as RecorderOptions)).toThrow(message);
  expect(readdirSync(spoolDir)).toEqual([]);
});

test('what is no object is no options', () => {
  expect(() => new Recorder(null as never)).toThrow(/^options must be of type object/);
});

test.each([
  ['ACTLOG_GUARD', 'enforced', /^ACTLOG_GUARD is "enforced": use one of off, observe, enforce/],
  ['ACTLOG_GUARD_ON_UNAVAILABLE', 'no', /^ACTLOG_GUARD_ON_UNAVAILABLE is "no": use one of allow, deny/],
])('a wrong %s is named', (name, value, message) => {
  vi.stubEnv(name, value);
  expect(() => new Recorder({ ...service, spool: false })).toThrow(message);
  vi.unstubAllEnvs();
});

test.each<[Record<string, unknown>, RegExp]>([
  [{ include: 'search' }, /^include must be a list of names and patterns, such as \["search"/],
  [{ exclude: [42] }, /^exclude must be a list of names and patterns/],
  [{ toolName: 'search' }, /^toolName must be of type function/],
  [{ responseStatus: 200 }, /^responseStatus must be of type function/],
  [{ sessionId: 42 }, /^sessionId must be of type string, and is of type number/],
  [{ agentId: 42 }, /^agentId must be of type string/],
  [{ recorder: {} }, /^recorder must be a Recorder/],
  [{ guard: 'enforce' }, /^guard must be of type object/],
  [{ guard: false }, /^guard must be of type object/],
])('an adapter with %j is refused', (options, message) => {
  const recorder = new Recorder({ ...service, spool: false, exitTimeoutMs: 0 });
  const given = { recorder, ...options } as AdapterOptions;
  for (const canHold of [true, false]) {
    expect(() => new AdapterCalls({ framework: 'tiny', sdk: 'tiny', canHold }, given)).toThrow(message);
  }
});

test.each([['5000'], [Number.NaN], [null]])('a wait of %j is refused, and loses nothing', async (given) => {
  const sink = await Sink.start();
  const dropped: unknown[] = [];
  const recorder = createRecorder(sink.url, { spool: false, onDrop: (event) => dropped.push(event) });
  recorder.record({ toolName: 'tool', arguments: {}, responseStatus: 200 });
  const options = { timeoutMs: given as number };
  const message = /^timeoutMs must be a number of milliseconds, and is .* of type/;
  await expect(recorder.flush(options)).rejects.toThrow(message);
  await expect(recorder.close(options)).rejects.toThrow(message);
  expect(() => recorder.flushOnReturn(() => {}, options)).toThrow(message);
  expect(await recorder.close()).toMatchObject({ delivered: 1, dropped: 0 });
  expect(dropped).toEqual([]);
});

test('a key that is none makes no hash without a key', async () => {
  await expect(hashArguments({ pin: 1234 }, { hashKey: 0 as never })).rejects.toThrow(/^hashKey must be/);
});

test('names that are no strings are sent and checked as strings', async () => {
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
