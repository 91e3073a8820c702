import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, json, type Script, ScriptedServer } from './scripted-server.ts';
import { rejection, signalIgnoringFetch, testClient, transports } from './test-client.ts';
import { attemptLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const silent: Script = () => {};
const ok = json(200, { id: 'agt_1' });

describe.each(transports)('time limits over %s', (_name, options) => {
  it('times out on a server that never responds', async () => {
    server.script(silent, ok);
    const { client, clock } = testClient(server.origin, options);
    const call = client.agents.get('agt_1');
    await server.received(1);
    clock.expire(attemptLimitMs);
    await call; // reading is harmless to repeat
    expect(server.requests).toHaveLength(2);
    expect(clock.running).toBe(0);
  });

  it('does not retry a creation after a timeout', async () => {
    server.script(silent, ok);
    const { client, clock } = testClient(server.origin, options);
    const call = rejection(client.agents.create({ name: 'n' }));
    await server.received(1);
    clock.expire(attemptLimitMs);
    expect(await call).toMatchObject({
      name: 'APITimeoutError',
      code: 'TIMEOUT',
      maybeSent: true,
      attempts: 1,
    });
  });

  it('times out on a slow body', async () => {
    let drip: (() => void) | undefined;
    server.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
      drip = () => response.write(' ');
    });
    const { client, clock } = testClient(server.origin, { ...options, maxRetries: 0 });
    const call = rejection(client.agents.get('agt_1'));
    await server.received(1);
    for (let second = 0; second < 30; second += 1) {
      drip?.();
      await new Promise(setImmediate);
    }
    clock.expire(attemptLimitMs);
    expect(await call).toMatchObject({ name: 'APITimeoutError', attempts: 1 });
  });

  // Node timers may fire up to a millisecond early.
  it.each([0, 0.5])(
    'ends a call during an attempt when deadlineMs is exceeded, %d ms early',
    async (earlyMs) => {
      server.script(silent);
      const { client, clock } = testClient(server.origin, { ...options, timeoutMs: 5 * attemptLimitMs });
      const call = rejection(client.agents.get('agt_1', { deadlineMs: 2 * attemptLimitMs }));
      await server.received(1);
      expect(clock.limits).toEqual([2 * attemptLimitMs]);
      clock.expire(2 * attemptLimitMs - earlyMs);
      expect(await call).toMatchObject({
        name: 'APITimeoutError',
        message: expect.stringContaining('deadlineMs'),
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('aborts a running call with the reason of the signal', async () => {
    server.script(silent);
    const { client, clock } = testClient(server.origin, options);
    const controller = new AbortController();
    const call = rejection(client.agents.get('agt_1', { signal: controller.signal }));
    await server.received(1);
    controller.abort('enough');
    expect(await call).toMatchObject({
      name: 'APIAbortError',
      code: 'ABORTED',
      cause: 'enough',
      attempts: 1,
    });
    expect(clock.running).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('sends nothing if the signal is already aborted', async () => {
    server.script(ok);
    const { client } = testClient(server.origin, options);
    const call = client.agents.get('agt_1', { signal: AbortSignal.abort() });
    expect(await rejection(call)).toMatchObject({ name: 'APIAbortError' });
    expect(server.requests).toHaveLength(0);
  });

  it('aborts the delay before a retry', async () => {
    server.script(failure(503, 'OVERLOADED', { 'retry-after': '60' }));
    const { client, clock } = testClient(server.origin, options);
    clock.holdDelays();
    const controller = new AbortController();
    const call = rejection(client.agents.get('agt_1', { signal: controller.signal }));
    await clock.timerStarted();
    expect(clock.delays).toEqual([60_000]);
    controller.abort();
    expect(await call).toMatchObject({ name: 'APIAbortError', attempts: 1 });
    expect(clock.running).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it('leaves no listener on a shared signal', async () => {
    server.script(failure(503, 'OVERLOADED'), ok);
    const { client } = testClient(server.origin, options);
    const { signal } = new AbortController();
    for (let call = 0; call < 50; call += 1) await client.agents.get('agt_1', { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('over a pool without a free connection', () => {
  it('reports a call that got no connection in time as not sent', async () => {
    server.script(silent, ok);
    const dispatcher = new Agent({ connections: 1 });
    const { client, clock } = testClient(server.origin, { dispatcher, maxRetries: 0 });
    const calls = ['agt_1', 'agt_2'].map((id) => rejection(client.agents.get(id)));
    await server.received(1);
    clock.expire(attemptLimitMs);
    const [sent, unsent] = await Promise.all(calls);
    expect(sent).toMatchObject({ name: 'APITimeoutError', maybeSent: true });
    expect(sent?.message).toContain('no complete response within');
    expect(unsent).toMatchObject({ name: 'APITimeoutError', maybeSent: false });
    expect(unsent?.message).toContain('no connection within');
    expect(server.requests).toHaveLength(1);
    await dispatcher.destroy();
  });
});

describe('over a fetch that ignores its signal', () => {
  it.each([
    ['starts', false],
    ['continues', true],
  ])('drops a response that %s too late and keeps the next one', async (_what, hasBegun) => {
    const open: ServerResponse[] = [];
    server.script((response) => void open.push(response));
    const { client, clock } = testClient(server.origin, { fetch: signalIgnoringFetch });
    const call = client.agents.get('agt_1');
    await server.received(1);
    const [late] = open as [ServerResponse];
    if (hasBegun) late.write('{"id":');
    clock.expire(attemptLimitMs);
    await server.received(2);
    const closed = once(late, 'close');
    late.write(hasBegun ? '"late"' : '{"id":"late"');
    await closed; // the client closes the connection, although the server has not
    open[1]?.end('{"id":"agt_1"}');
    expect(await call).toEqual({ id: 'agt_1' });
    expect(server.requests).toHaveLength(2);
  });
});

describe('limits beyond the longest timer', () => {
  it('are reduced to it', async () => {
    server.script(ok);
    const { client, clock } = testClient(server.origin);
    await client.agents.get('agt_1', { timeoutMs: Infinity });
    expect(clock.limits).toEqual([2 ** 31 - 1]);
  });

  it.each([0, -1, Number.NaN, '5'])('reject %j', async (timeoutMs) => {
    const { client } = testClient(server.origin);
    const call = client.agents.get('agt_1', { timeoutMs: timeoutMs as number });
    expect(await rejection(call)).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('timeoutMs'),
    });
  });
});
