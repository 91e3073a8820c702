import { expect, test } from 'vitest';
import type { Recorder, RecorderOptions, ToolCall } from '../src/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

async function start(options: RecorderOptions = {}): Promise<{ sink: Sink; recorder: Recorder }> {
  const sink = await Sink.start();
  return { sink, recorder: createRecorder(sink.url, options) };
}

/** A value whose properties throw, except `then`, which `await` reads. */
const closed: object = new Proxy(
  {},
  {
    get: (_target, property) => {
      if (property === 'then') return undefined;
      throw new Error('closed');
    },
    has: () => {
      throw new Error('closed');
    },
    getPrototypeOf: () => {
      throw new Error('closed');
    },
  },
);

const call: ToolCall = { toolName: 'search', arguments: { query: 'x' } };

test('passes results and errors through, with one event each', async () => {
  const { sink, recorder } = await start();
  const result = { rows: [] };
  expect(await recorder.toolCall(call, async () => result)).toBe(result);
  const error = Object.freeze(Object.assign(new Error('no'), { status: 418 }));
  await expect(recorder.toolCall(call, () => Promise.reject(error))).rejects.toBe(error);
  await expect(
    recorder.toolCall(call, () => {
      throw error;
    }),
  ).rejects.toBe(error);
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([200, 418, 418]);
});

test('rejects invalid calls with a fix, and records nothing', async () => {
  const { sink, recorder } = await start();
  const wrong = recorder.toolCall.bind(recorder) as (...args: unknown[]) => Promise<unknown>;
  await expect(wrong(call, Promise.resolve('done'))).rejects.toThrow(
    'toolCall: run must be a function that calls the tool, such as () => search(args), got object.',
  );
  await expect(wrong('search', { query: 'x' }, () => 'done')).rejects.toThrow(
    'toolCall: call must be an object, such as {toolName, arguments}, got string.',
  );
  await expect(recorder.session('s').toolCall(call, undefined as never)).rejects.toThrow(
    /run must be a function .* got undefined/,
  );
  await recorder.close();
  expect(sink.requests).toEqual([]);
});

test('starts a tool in the same turn if its arguments are small', async () => {
  const { recorder } = await start();
  let hasStarted = false;
  const promise = recorder.toolCall(call, () => {
    hasStarted = true;
  });
  expect(hasStarted).toBe(true);
  await promise;
});

test('prefers mappings of the call and the recorder to the table; null records nothing', async () => {
  const { sink, recorder } = await start({
    responseStatus: (outcome) => (outcome.ok && outcome.result === 'odd' ? 299 : undefined),
  });
  await recorder.toolCall(call, () => 'odd');
  await recorder.toolCall(call, () => 'even');
  await recorder.toolCall({ ...call, responseStatusOf: () => 201 }, () => 'odd');
  await recorder.toolCall({ ...call, responseStatusOf: () => null }, () => 'odd');
  await recorder.toolCall(
    {
      ...call,
      responseStatusOf: () => {
        throw new Error('mapping');
      },
    },
    () => 'even',
  );
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([299, 200, 201, 200]);
});

test('uses the session of the call, the surrounding run, or the recorder', async () => {
  const { sink, recorder } = await start();
  const session = recorder.session('outer');
  await session.run(async () => {
    await recorder.toolCall(call, () => 1);
    recorder.record({ ...call, responseStatus: 200 });
    await recorder.toolCall({ ...call, sessionId: 'own' }, () => 2);
    await recorder.session().toolCall(call, () => 3);
  });
  await recorder.toolCall(call, () => 4);
  await session.toolCall(call, () => 5);
  await recorder.toolCall(call, () => 6);
  await recorder.flush();
  const sessions = sink.stored
    .toSorted((a, b) => a.eventId.localeCompare(b.eventId))
    .map(({ sessionId }) => sessionId);
  expect(sessions.slice(0, 3)).toEqual(['outer', 'outer', 'own']);
  expect(sessions[3]).toMatch(/^[0-9a-f-]{36}$/);
  expect(sessions[5]).toBe('outer');
  expect(sessions[4]).toBe(sessions[6]);
  expect(sessions[4]).not.toBe(sessions[3]);
});

test('keeps concurrent sessions apart', async () => {
  const { sink, recorder } = await start();
  await Promise.all(
    ['a', 'b', 'c'].map((id) =>
      recorder.session(id).run(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        await recorder.toolCall({ toolName: id, arguments: {} }, () => id);
      }),
    ),
  );
  await recorder.flush();
  for (const { sessionId, payload } of sink.stored) expect(sessionId).toBe(payload.toolName);
});

test('records a call seen by hooks of two frameworks once', async () => {
  const { sink, recorder } = await start();
  const outer = recorder.forAdapter({ framework: 'langchain', sdk: '@actlog/langchain/1.0.0' });
  const inner = recorder.forAdapter({ framework: 'mcp', sdk: '@actlog/mcp/1.0.0' });
  await outer.toolCall({ ...call, callId: 'a' }, () =>
    inner.toolCall({ ...call, callId: '1' }, async () => 'ok'),
  );
  await recorder.flush();
  expect(sink.requests.map(({ headers }) => headers['x-service-framework'])).toEqual(['langchain']);
  expect(sink.requests[0]?.headers['x-service-sdk']).toMatch(/^@actlog\/langchain\/1.0.0/);
});

test.each<[string, Partial<ToolCall>, Partial<ToolCall>, number]>([
  ['two hooks of one framework, same call id', { callId: 'a' }, { callId: 'a' }, 1],
  ['a tool that calls itself', { callId: 'a' }, { callId: 'b' }, 2],
  ['a tool that calls itself, without ids', {}, {}, 2],
  ['another tool', {}, { toolName: 'other', framework: 'mcp' }, 2],
  ['other arguments, which nobody checked', {}, { arguments: { query: 'y' }, framework: 'mcp' }, 2],
  [
    'the same arguments in another order',
    { arguments: { a: 1, b: 2 } },
    { arguments: { b: 2, a: 1 }, framework: 'mcp' },
    1,
  ],
])('counts a call inside a call, %s', async (_name, outer, inner, events) => {
  const { sink, recorder } = await start();
  await recorder.toolCall({ ...call, framework: 'langchain', ...outer }, () =>
    recorder.toolCall({ ...call, framework: 'langchain', ...inner }, () => 'ok'),
  );
  await recorder.flush();
  expect(sink.stored.length).toBe(events);
});

test('records repeated and parallel calls separately', async () => {
  const { sink, recorder } = await start();
  const mcp = { ...call, framework: 'mcp' };
  await recorder.toolCall({ ...call, framework: 'langchain' }, async () => {
    await recorder.toolCall(mcp, () => 'broken');
    await recorder.toolCall(mcp, () => 'ok');
  });
  await recorder.toolCall(mcp, () => 'ok');
  await recorder.flush();
  expect(sink.stored.length).toBe(3);
});

test('instruments functions once', async () => {
  const { sink, recorder } = await start();
  const counter = {
    total: 0,
    add(this: { total: number }, amount: number) {
      this.total += amount;
      return this.total;
    },
  };
  const tools = recorder.instrument({ add: counter.add, join: async (a: string, b: string) => a + b });
  const again = recorder.instrument(tools);
  expect(again.join).toBe(tools.join);
  expect(await tools.add.call(counter, 5)).toBe(5);
  const joined: string = await again.join('a', 'b');
  expect(joined).toBe('ab');
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.toolName)).toEqual(['add', 'join']);
});

test('records and guards functions instrumented by two recorders, once each', async () => {
  const { sink: others, recorder: other } = await start();
  const sink = await Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { status: 200, body: { decision: 'deny' } } : undefined,
  );
  const guarded = createRecorder(sink.url, { guard: { mode: 'enforce', onUnavailable: 'deny' } });
  const theirs = other.instrument({ search: (query: string) => `found ${query}` });
  const both = guarded.instrument(theirs);
  await expect(both.search('a')).rejects.toMatchObject({ because: 'denied' });
  expect(other.instrument(both).search).toBe(both.search);
  expect(await theirs.search('b')).toBe('found b');
  await Promise.all([other.flush(), guarded.flush()]);
  expect([sink, others].map(({ stored }) => stored.map(({ payload }) => payload.responseStatus))).toEqual([
    [403],
    [200],
  ]);
});

test('does not treat a trailing signal as an argument', async () => {
  const { sink, recorder } = await start();
  const { signal } = new AbortController();
  const { find } = recorder.instrument({
    find: async (query: { text: string }, options?: AbortSignal | { signal?: AbortSignal; limit?: number }) =>
      `${query.text} ${options !== undefined}`,
  });
  expect(await find({ text: 'a' })).toBe('a false');
  expect(await find({ text: 'a' }, { signal, limit: 5 })).toBe('a true');
  expect(await find({ text: 'a' }, signal)).toBe('a true');
  await find({ text: 'a' }, { limit: 5 });
  await recorder.flush();
  const [plain, withOptions, withSignal, withLimit] = sink.stored.map(({ payload }) => payload.argumentsHash);
  expect([withOptions, withSignal]).toEqual([plain, plain]);
  expect(withLimit).not.toBe(plain);
});

test('passes on an argument whose properties throw', async () => {
  const { recorder } = await start();
  const { find } = recorder.instrument({ find: (given: object) => given === closed });
  expect(await find(closed)).toBe(true);
});

test('sanitizes invalid names', async () => {
  const { sink, recorder } = await start();
  recorder.record({
    toolName: '',
    argumentsHash: '',
    responseStatus: 200,
    sessionId: 'a\nb',
    agentId: 'x'.repeat(300),
  });
  await recorder.flush();
  expect(sink.stored[0]).toMatchObject({
    agentId: 'x'.repeat(200),
    sessionId: 'a\ufffdb',
    payload: { toolName: 'unknown', argumentsHash: 'sha256:unavailable' },
  });
});

test('passes on and records results, errors and reasons whose properties throw', async () => {
  // The sink decides nothing.
  const readDecision = () => ({ decision: 'allow' as const });
  const { sink, recorder } = await start({
    guard: { mode: 'enforce', onUnavailable: 'allow', readDecision },
  });
  expect((await recorder.toolCall(call, () => closed)) === closed).toBe(true);
  const thrown = await recorder.toolCall(call, () => Promise.reject(closed)).catch((error) => error);
  expect(thrown === closed).toBe(true);
  const signal = AbortSignal.abort(closed);
  const reason = await recorder.toolCall({ ...call, signal }, () => 'ran').catch((error) => error);
  expect(reason === closed).toBe(true);
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([200, 500, 499]);
});

test('records a call whose fields throw at its end', async () => {
  const { sink, recorder } = await start();
  const closing = {
    ...call,
    get responseStatusOf(): never {
      throw new Error('closed');
    },
  };
  expect(await recorder.toolCall(closing, () => 'result')).toBe('result');
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([200]);
});

test.each([Number.NaN, 1.5, 2 ** 31, undefined, '200'])(
  'reports an invalid status (%s), and records 500',
  async (responseStatus) => {
    const errors: string[] = [];
    const { sink, recorder } = await start({ onError: ({ message }) => errors.push(message) });
    recorder.record({ ...call, responseStatus: responseStatus as number });
    recorder.record({ ...call, responseStatus: 200 });
    expect(await recorder.close()).toMatchObject({ delivered: 2, pending: 0 });
    expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([500, 200]);
    expect(errors).toEqual([
      expect.stringMatching(/^responseStatus must be a 32-bit integer, got .*; recorded 500 instead\.$/),
    ]);
  },
);

test.each<[string, () => unknown]>([
  ['an integer that no event can carry', () => 2 ** 31],
  ['a text', () => '404'],
  ['a promise', async () => 404],
  ['a promise that rejects', () => Promise.reject(new Error('broken'))],
])('reports a mapping that returns %s, and uses the table', async (_name, mapping) => {
  const errors: string[] = [];
  const { sink, recorder } = await start({
    responseStatus: mapping as () => number,
    onError: ({ message }) => errors.push(message),
  });
  await recorder.toolCall(call, () => 'result');
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([200]);
  expect(errors).toEqual([expect.stringMatching(/^A status mapping returned an invalid status/)]);
});

test('never throws while recording', async () => {
  const { recorder } = await start();
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error();
      },
      ownKeys: () => {
        throw new Error();
      },
    },
  );
  expect(recorder.record({ toolName: 'tool', arguments: hostile, responseStatus: 200 })).toMatch(
    /^[0-9a-f-]{36}$/,
  );
  expect(recorder.record(hostile as never)).toMatch(/^[0-9a-f-]{36}$/);
  expect(await recorder.toolCall({ toolName: 'tool', arguments: hostile }, () => 'ok')).toBe('ok');
});
