import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { Recorder } from '../recorder.ts';
import { type ActiveCall, currentCall, runAsCall } from '../recording/active-call.ts';
import { currentSessionId } from '../recording/recorder-session.ts';
import { BegunCall } from './hooked-calls.ts';

const storage = new AsyncLocalStorage<string>();

test('runs steps within the call, even if the call began elsewhere', async () => {
  const call = await BegunCall.begin((body) => storage.run('the call', body));
  expect(storage.getStore()).toBeUndefined();
  expect(call.step(() => storage.getStore())).toBe('the call');
  expect(await call.step(async () => storage.getStore())).toBe('the call');
});

test('ends once, with the first outcome, and resolves when recorded', async () => {
  const outcomes: unknown[] = [];
  const call = await BegunCall.begin((body) => body().then((result) => outcomes.push(result)));
  await call.end({ ok: true, result: 'first' });
  await call.end({ ok: false, error: new Error('second') });
  expect(outcomes).toEqual(['first']);
});

test('does not reject when the call ends with an error', async () => {
  const errors: unknown[] = [];
  const call = await BegunCall.begin((body) =>
    body().catch((error: unknown) => {
      errors.push(error);
      throw error;
    }),
  );
  await call.end({ ok: false, error: 'it broke' });
  expect(errors).toEqual(['it broke']);
});

test('rejects if the call is denied', async () => {
  await expect(BegunCall.begin(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

/** Begins a call inside another one. */
function beginWithin(toolName: string) {
  return BegunCall.begin((body) => {
    const call: ActiveCall = {
      recordedBy: storage,
      toolName,
      argumentsHash: '',
      traceparent: undefined,
      callId: undefined,
      framework: undefined,
      guard: storage,
      actionId: undefined,
      agentName: undefined,
      subagent: undefined,
      parentAgentIds: [],
      agentId: 'agent',
      sessionId: 'session',
      outer: currentCall(),
      inner: undefined,
      isOpen: true,
      refusedWith: undefined,
      origins: undefined,
      trace: undefined,
    };
    const end = () => {
      call.isOpen = false;
    };
    return runAsCall(call, body).finally(end);
  });
}

test('makes a place part of the call that begins in it later, until the call ends', async () => {
  const hook = async (toolName: string) => {
    const enter = BegunCall.place('a session');
    await undefined;
    const call = await beginWithin(toolName);
    enter(call);
    return call;
  };
  const run = async () => {
    await undefined; // so that the context entered below does not affect this test
    const first = await hook('first');
    expect(currentCall()?.toolName).toBe('first');
    expect(currentSessionId()).toBe('a session');
    const inner = await hook('inner');
    expect(currentCall()).toMatchObject({ toolName: 'inner', outer: { toolName: 'first' } });
    await inner.end({ ok: true, result: undefined });
    expect(currentCall()?.toolName).toBe('first');
    await first.end({ ok: true, result: undefined });
    const next = await hook('next');
    expect(currentCall()).toMatchObject({ toolName: 'next', outer: undefined });
    await next.end({ ok: true, result: undefined });
  };
  await run();
  expect(currentCall()).toBeUndefined();
  expect(currentSessionId()).toBeUndefined();
});

test('enters a call for the rest of a function, but not for its caller', async () => {
  const recorder = new Recorder({ baseURL: 'http://127.0.0.1:9', apiKey: 'al_test_nobody', spool: false });
  const session = recorder.session('of the call');
  const call = await BegunCall.begin((body) => session.run(body));
  const tool = async () => {
    await Promise.resolve();
    call.enter();
    await Promise.resolve();
    return currentSessionId();
  };
  expect(await tool()).toBe('of the call');
  expect(currentSessionId()).toBeUndefined();
  await recorder.close({ timeoutMs: 0 });
});
