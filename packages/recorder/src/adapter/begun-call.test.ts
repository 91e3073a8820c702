import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { type ActiveCall, currentCall, runAsCall } from '../active-call.ts';
import { Recorder } from '../recorder.ts';
import { currentSessionId } from '../session.ts';
import { BegunCall } from './begun-call.ts';

const storage = new AsyncLocalStorage<string>();

test('its steps run within the call, also after the call began elsewhere', async () => {
  const call = await BegunCall.begin((body) => storage.run('the call', body));
  expect(storage.getStore()).toBeUndefined();
  expect(call.step(() => storage.getStore())).toBe('the call');
  expect(await call.step(async () => storage.getStore())).toBe('the call');
});

test('it ends once, as the first end says, and is recorded by then', async () => {
  const outcomes: unknown[] = [];
  const call = await BegunCall.begin((body) => body().then((result) => outcomes.push(result)));
  await call.end({ ok: true, result: 'first' });
  await call.end({ ok: false, error: new Error('second') });
  expect(outcomes).toEqual(['first']);
});

test('a call that ends in an error rejects for nobody', async () => {
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

test('a call that may not run does not begin', async () => {
  await expect(BegunCall.begin(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

/** A call that begins within another. */
function beginWithin(toolName: string) {
  return BegunCall.begin((body) => {
    const call: ActiveCall = {
      recordedBy: storage,
      toolName,
      argumentsHash: '',
      callId: undefined,
      framework: undefined,
      guard: storage,
      actionId: undefined,
      agentId: 'agent',
      sessionId: 'session',
      outer: currentCall(),
      inner: undefined,
      isOpen: true,
      refusedWith: undefined,
    };
    const end = () => {
      call.isOpen = false;
    };
    return runAsCall(call, body).finally(end);
  });
}

test('a place runs as the call that began in it later, and is left when the call has ended', async () => {
  const hook = async (toolName: string) => {
    const enter = BegunCall.place('a session');
    await undefined;
    const call = await beginWithin(toolName);
    enter(call);
    return call;
  };
  const run = async () => {
    await undefined; // what is entered below is not to be felt by this test
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

test('where nothing can be wrapped, the rest of a function runs within the call, and its caller does not', async () => {
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
