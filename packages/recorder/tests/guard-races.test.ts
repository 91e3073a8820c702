import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import { diagnosticsChannels } from '../src/index.ts';
import { Sink } from './sink.ts';
import { createRecorder } from './test-recorder.ts';

const call = { toolName: 'transfer', arguments: { amount: 100 }, sessionId: 'session' };
const guard = { mode: 'enforce', onUnavailable: 'allow' } as const;

function turns(count: number, then: () => void): void {
  if (count === 0) then();
  else queueMicrotask(() => turns(count - 1, then));
}

test('does not run a call aborted at any moment between the decision and its start', async () => {
  const sink = await Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { status: 200, body: { decision: 'allow' } } : undefined,
  );
  const recorder = createRecorder(sink.url, { guard });
  for (let count = 0; count < 12; count += 1) {
    const controller = new AbortController();
    const abortSoon = () => turns(count, () => controller.abort(new Error('gone')));
    subscribe(diagnosticsChannels.guarded, abortSoon);
    onTestFinished(() => void unsubscribe(diagnosticsChannels.guarded, abortSoon));
    let ranAborted: boolean | undefined;
    await recorder
      .toolCall({ ...call, signal: controller.signal }, () => {
        ranAborted = controller.signal.aborted;
      })
      .catch(() => {});
    unsubscribe(diagnosticsChannels.guarded, abortSoon);
    expect(ranAborted).not.toBe(true);
  }
});

/** Blocks the event loop like a tool that reads or computes synchronously. */
function blockEventLoop(forMs: number): void {
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs);
}

test('does not run a denied call because of an event-loop stall', async () => {
  let checks = 0;
  const sink = await Sink.start(({ path }) => {
    if (path !== '/v1/policies/check') return undefined;
    checks += 1;
    if (checks === 1) blockEventLoop(600);
    return { status: 200, body: { decision: 'deny' } };
  });
  const recorder = createRecorder(sink.url, { guard: { ...guard, timeoutMs: 500 } });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'denied' });
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([403]);
});

test.each([1, 10, 50])('times out on a hanging service after %i ms without a stall', async (timeoutMs) => {
  const sink = await Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { fault: 'hang' } : undefined,
  );
  const recorder = createRecorder(sink.url, {
    guard: { mode: 'enforce', onUnavailable: 'deny', timeoutMs },
  });
  await recorder.toolCall(call, () => 'ran').catch(() => {}); // the first call loads the transport
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
});

/** Creates a signal like a polyfill: without a reason, and without `throwIfAborted`. */
function oldSignal(): AbortSignal & { abort(): void } {
  const signal = Object.assign(new EventTarget(), {
    aborted: false,
    abort() {
      signal.aborted = true;
      signal.dispatchEvent(new Event('abort'));
    },
  });
  return signal as never;
}

test('supports polyfilled signals', async () => {
  let decision = 'allow';
  const signal = oldSignal();
  const sink = await Sink.start(({ path, headers }) => {
    if (path !== '/v1/policies/check') return undefined;
    if (headers.prefer) signal.abort();
    return { status: 200, body: { decision } };
  });
  const recorder = createRecorder(sink.url, { guard });
  expect(await recorder.toolCall({ ...call, signal }, () => 'ran')).toBe('ran');
  decision = 'require_approval';
  await expect(recorder.toolCall({ ...call, signal }, () => 'ran')).rejects.toMatchObject({
    name: 'AbortError',
  });
  await recorder.flush();
  expect(sink.stored.map(({ payload }) => payload.responseStatus)).toEqual([200, 499]);
});

test('rejects a controller instead of a signal, without running the call', async () => {
  const sink = await Sink.start();
  const recorder = createRecorder(sink.url, { guard });
  const signal = new AbortController() as never;
  await expect(recorder.toolCall({ ...call, signal }, () => 'ran')).rejects.toThrow(
    /^signal must be an AbortSignal: pass controller.signal/,
  );
});

test('does not allow a call because its action id belongs to another action', async () => {
  const ids: unknown[] = [];
  const sink = await Sink.start(({ path, body }) => {
    if (path !== '/v1/policies/check') return undefined;
    ids.push(body.actionId);
    if (body.actionId === 'resumed') return { status: 409, body: { error: { code: 'ACTION_MISMATCH' } } };
    return { status: 200, body: { decision: 'deny' } };
  });
  const recorder = createRecorder(sink.url, { guard });
  const promise = recorder.toolCall({ ...call, actionId: 'resumed' }, () => 'ran');
  await expect(promise).rejects.toMatchObject({ because: 'denied' });
  expect(ids).toEqual(['resumed', expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});

test('does not confuse empty or truncated action ids with those of other actions', async () => {
  const ids: unknown[] = [];
  const sink = await Sink.start(({ path, body }) => {
    if (path !== '/v1/policies/check') return undefined;
    ids.push(body.actionId);
    return { status: 200, body: { decision: 'allow' } };
  });
  const recorder = createRecorder(sink.url, { guard });
  const long = 'step of a workflow '.repeat(20);
  for (const actionId of ['', '', `${long}1`, `${long}2`, `${long}1`]) {
    await recorder.toolCall({ ...call, actionId }, () => 'ran');
  }
  const [first, second, longOne, longTwo, longOneAgain] = ids;
  expect(first).not.toBe(second);
  expect(longOne).not.toBe(longTwo);
  expect(longOne).toBe(longOneAgain);
  expect(ids.every((id) => String(id).length <= 200)).toBe(true);
});

test('does not allow a call because the service rejects all action ids', async () => {
  const sink = await Sink.start(({ path }) =>
    path === '/v1/policies/check' ? { status: 409, body: {} } : undefined,
  );
  const recorder = createRecorder(sink.url, { guard });
  await expect(recorder.toolCall(call, () => 'ran')).rejects.toMatchObject({ because: 'unavailable' });
});

test('leaves connections for other checks with many held calls', async () => {
  // More than may wait at the service at once.
  const heldCalls = 150;
  let isApproved = false;
  const waiting = new Set<() => void>();
  const asked = new Set<unknown>();
  const askedAgain = new Set<unknown>();
  let isDone = () => {};
  const sink = await Sink.start(async ({ path, headers, body }) => {
    if (path !== '/v1/policies/check') return undefined;
    const action = body.action as { toolName: string };
    if (action.toolName === 'drop') return { status: 200, body: { decision: 'deny' } };
    if (asked.has(body.actionId)) askedAgain.add(body.actionId);
    asked.add(body.actionId);
    if (askedAgain.size === heldCalls) isDone();
    if (headers.prefer && !isApproved) await new Promise<void>((respond) => waiting.add(respond));
    return { status: 200, body: { decision: isApproved ? 'allow' : 'require_approval' } };
  });
  const recorder = createRecorder(sink.url, { guard });
  const allAskedAgain = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  const held = Array.from({ length: heldCalls }, () => recorder.toolCall(call, () => 'ran'));
  await allAskedAgain;
  const other = recorder.toolCall({ ...call, toolName: 'drop' }, () => 'ran');
  await expect(other).rejects.toMatchObject({ because: 'denied' });
  isApproved = true;
  for (const respond of waiting) respond();
  expect(new Set(await Promise.all(held))).toEqual(new Set(['ran']));
  expect(waiting.size).toBeLessThanOrEqual(128);
});
