import { expect, test } from 'vitest';
import type { GuardOptions, Recorder } from '../src/index.ts';
import { type Reply, Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const call = { toolName: 'transfer', arguments: { amount: 100 }, sessionId: 'session' };
const langchain = { framework: 'langchain', sdk: '@actlog/langchain/1.0.0' };
const mcp = { framework: 'mcp', sdk: '@actlog/mcp/1.0.0' };
const enforce = { mode: 'enforce', onUnavailable: 'deny' } as const;

/** Starts a service with the same decision for every call, and a recorder for it. */
async function start(decision: string, guard?: GuardOptions): Promise<{ sink: Sink; recorder: Recorder }> {
  const reply: Reply = { status: 200, body: { decision } };
  const sink = await Sink.start(({ path }) => (path === '/v1/policies/check' ? reply : undefined));
  return { sink, recorder: createRecorder(sink.url, { guard }) };
}

function checks(sink: Sink): Record<string, unknown>[] {
  return sink.requests.filter(({ path }) => path === '/v1/policies/check').map(({ body }) => body);
}

async function statuses(recorder: Recorder, sink: Sink): Promise<unknown[]> {
  await recorder.flush();
  return sink.stored.map(({ payload }) => payload.responseStatus);
}

test('guards only the adapter with its own guard', async () => {
  const { sink, recorder } = await start('deny');
  const guarded = recorder.forAdapter({ ...langchain, guard: enforce });
  const free = recorder.forAdapter(mcp);
  await expect(guarded.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
  await expect(guarded.session('a').toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
  expect(await free.toolCall(call, () => 'ran')).toBe('ran');
  expect(await recorder.toolCall(call, () => 'ran')).toBe('ran');
  expect((await statuses(recorder, sink)).toSorted()).toEqual([200, 200, 403, 403]);
  expect(guarded.identity).toEqual(langchain);
});

test("completes an adapter's guard from the recorder's", async () => {
  const { sink, recorder } = await start('deny', enforce);
  const showing = recorder.forAdapter({
    ...langchain,
    guard: { mode: undefined, showArguments: () => ({ shown: true }) },
  });
  await expect(showing.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
  expect(checks(sink)[0]).toMatchObject({ action: { arguments: { shown: true } } });
  expect(await recorder.forAdapter({ ...mcp, guard: { mode: 'off' } }).toolCall(call, () => 'ran')).toBe(
    'ran',
  );
});

test("uses the recorder's guard for an adapter without one", async () => {
  const { recorder } = await start('deny', enforce);
  await expect(recorder.forAdapter(langchain).toolCall(call, () => 'ran')).rejects.toMatchObject({
    because: 'denied',
  });
});

test('rejects an invalid guard of an adapter', async () => {
  const { recorder } = await start('allow');
  expect(() => recorder.forAdapter({ ...langchain, guard: { mode: 'enforce' } })).toThrow(
    /guard.onUnavailable is missing/,
  );
  expect(() => recorder.forAdapter({ ...langchain, guard: { holdTimeoutMs: -1 } })).toThrow(
    /guard.holdTimeoutMs must be/,
  );
});

test('checks a call with the guards of both hooks; a denial by the inner one is one event', async () => {
  const { sink, recorder } = await start('deny');
  const outer = recorder.forAdapter(langchain);
  const inner = recorder.forAdapter({ ...mcp, guard: enforce });
  let hasRun = false;
  const run = () => {
    hasRun = true;
  };
  await expect(outer.toolCall(call, () => inner.toolCall(call, run))).rejects.toMatchObject({
    because: 'denied',
  });
  expect(hasRun).toBe(false);
  expect(await statuses(recorder, sink)).toEqual([403]);
});

test('records a denial of an inner hook, whatever the framework returns', async () => {
  const { sink, recorder } = await start('deny');
  const [first, second] = [recorder.forAdapter(langchain), recorder.forAdapter({ ...mcp, framework: 'ai' })];
  const inner = recorder.forAdapter({ ...mcp, guard: enforce });
  const innerResult = () =>
    inner.toolCall(call, () => 'ran').catch(({ because }: { because: string }) => because);
  const failed = () => inner.toolCall(call, () => 'ran').catch(() => Promise.reject(new Error('it broke')));
  expect(await first.toolCall(call, innerResult)).toBe('denied');
  expect(await first.toolCall(call, () => second.toolCall(call, innerResult))).toBe('denied');
  await expect(first.toolCall(call, failed)).rejects.toThrow('it broke');
  expect(await statuses(recorder, sink)).toEqual([403, 403, 403]);
});

test('records an abort during an inner hold, whatever the framework returns', async () => {
  const { sink, recorder } = await start('require_approval');
  const inner = recorder.forAdapter({ ...mcp, guard: enforce });
  const controller = new AbortController();
  const held = sink.until(() => checks(sink).length === 2);
  const outcome = recorder.forAdapter(langchain).toolCall(call, () => {
    const innerResult = inner.toolCall({ ...call, signal: controller.signal }, () => 'ran');
    return innerResult.catch(({ message }: Error) => message);
  });
  await held;
  controller.abort(new Error('the user left'));
  expect(await outcome).toBe('the user left');
  expect(await statuses(recorder, sink)).toEqual([499]);
});

test('checks with one action id for two guards, and once for one guard', async () => {
  const { sink, recorder } = await start('allow', enforce);
  const inner = recorder.forAdapter({ ...mcp, guard: enforce });
  const outer = recorder.forAdapter(langchain);
  expect(await outer.toolCall(call, () => inner.toolCall(call, () => 'ran'))).toBe('ran');
  expect(checks(sink).length).toBe(2);
  expect(new Set(checks(sink).map(({ actionId }) => actionId)).size).toBe(1);
  expect(await outer.toolCall(call, () => recorder.forAdapter(mcp).toolCall(call, () => 'ran'))).toBe('ran');
  expect(checks(sink).length).toBe(3);
  expect(await statuses(recorder, sink)).toEqual([200, 200]);
});

test('checks an inner hook as the recorded call, but with its own agent if named', async () => {
  const { sink, recorder } = await start('allow');
  const inner = recorder.forAdapter({ ...mcp, guard: enforce });
  const asInner = (agentId?: string) =>
    recorder
      .forAdapter(langchain)
      .toolCall({ ...call, agentId: 'researcher', sessionId: 'thread' }, () =>
        inner.toolCall({ ...call, agentId, sessionId: 'connection' }, () => 'ran'),
      );
  await asInner();
  await asInner('gateway');
  await recorder.flush();
  expect(checks(sink)).toMatchObject([
    { agentId: 'researcher', sessionId: 'thread' },
    { agentId: 'gateway', sessionId: 'thread' },
  ]);
  expect(sink.stored).toMatchObject([
    { agentId: 'researcher', sessionId: 'thread' },
    { agentId: 'researcher', sessionId: 'thread' },
  ]);
});

test('records a call seen by three hooks once', async () => {
  const { sink, recorder } = await start('allow');
  const [first, second, third] = ['langgraph', 'langchain', 'mcp'].map((framework) =>
    recorder.forAdapter({ framework, sdk: framework }),
  );
  await first?.toolCall(call, () => second?.toolCall(call, () => third?.toolCall(call, () => 'ran')));
  expect(await statuses(recorder, sink)).toEqual([200]);
});

test('checks the same call made by code left running after its call ended', async () => {
  const { sink, recorder } = await start('deny');
  const outer = recorder.forAdapter(langchain);
  const inner = recorder.forAdapter({ ...mcp, guard: enforce });
  let leftRunning: Promise<unknown> | undefined;
  await outer.toolCall(call, () => {
    leftRunning = new Promise((resolve) => setImmediate(resolve)).then(() =>
      inner.toolCall(call, () => 'ran'),
    );
    return 'ended';
  });
  await expect(leftRunning).rejects.toMatchObject({ because: 'denied' });
  expect((await statuses(recorder, sink)).toSorted()).toEqual([200, 403]);
});

test('checks the same call made by code left running after a call seen by two hooks', async () => {
  const { sink, recorder } = await start('allow', enforce);
  const outer = recorder.forAdapter(langchain);
  const inner = recorder.forAdapter(mcp);
  let leftRunning: Promise<unknown> | undefined;
  const run = () => {
    leftRunning = new Promise((resolve) => setImmediate(resolve)).then(() =>
      outer.toolCall(call, () => 'ran'),
    );
  };
  await outer.toolCall(call, () => inner.toolCall(call, run));
  expect(checks(sink).length).toBe(1);
  await leftRunning;
  expect(checks(sink).length).toBe(2);
  expect(await statuses(recorder, sink)).toEqual([200, 200]);
});

test('does not match calls to a hook whose outer hook has ended', async () => {
  const { sink, recorder } = await start('allow', enforce);
  const outer = recorder.forAdapter(langchain);
  const inner = recorder.forAdapter(mcp);
  const hasEnded = Promise.withResolvers<void>();
  let leftRunning: Promise<unknown> | undefined;
  await outer.toolCall(call, () => {
    leftRunning = inner.toolCall(call, async () => {
      await hasEnded.promise;
      return outer.toolCall(call, () => 'ran');
    });
  });
  hasEnded.resolve();
  expect(await leftRunning).toBe('ran');
  expect(checks(sink).length).toBe(2);
  expect(await statuses(recorder, sink)).toEqual([200, 200]);
});

test.each([
  ['the tool', () => 'ran'],
  ['another hook', (further: () => Promise<string>) => further()],
])('records a call approved after its outer call ended separately: %s within', async (_, run) => {
  let decision = 'require_approval';
  const sink = await Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { status: 200, body: { decision } } : undefined,
  );
  const recorder = createRecorder(sink.url);
  const inner = recorder.forAdapter({ ...mcp, guard: enforce });
  const further = () => recorder.forAdapter({ ...mcp, framework: 'ai' }).toolCall(call, () => 'ran');
  let held: Promise<unknown> | undefined;
  const timedOut = recorder.forAdapter(langchain).toolCall(call, async () => {
    held = inner.toolCall(call, () => run(further));
    await sink.until(() => checks(sink).length === 2);
    throw new DOMException('too long', 'TimeoutError');
  });
  await expect(timedOut).rejects.toThrow('too long');
  decision = 'allow';
  expect(await held).toBe('ran');
  expect(await statuses(recorder, sink)).toEqual([408, 200]);
});
