import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, json, type Script, ScriptedServer } from './scripted-server.ts';
import { deafFetch, rejection, testClient, transports } from './test-client.ts';
import { tryLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const silent: Script = () => {};
const ok = json(200, { id: 'agt_1' });

describe.each(transports)('time limits over %s', (_name, options) => {
  it('a server that never answers', async () => {
    server.script(silent, ok);
    const { client, clock } = testClient(server.origin, options);
    const call = client.agents.get('agt_1');
    await server.received(1);
    clock.expire(tryLimitMs);
    await call; // reading is harmless to repeat
    expect(server.requests).toHaveLength(2);
    expect(clock.running).toBe(0);
  });

  it('a creation is not repeated after a time-out', async () => {
    server.script(silent, ok);
    const { client, clock } = testClient(server.origin, options);
    const call = rejection(client.agents.create({ name: 'n' }));
    await server.received(1);
    clock.expire(tryLimitMs);
    expect(await call).toMatchObject({
      name: 'APITimeoutError',
      code: 'TIMEOUT',
      maybeSent: true,
      attempts: 1,
    });
  });

  it('covers a body that drips', async () => {
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
    clock.expire(tryLimitMs);
    expect(await call).toMatchObject({ name: 'APITimeoutError', attempts: 1 });
  });

  // A timer of Node may fire up to a millisecond before the clock says that its time has come.
  it.each([0, 0.5])('deadlineMs ends a call in the middle of a try, %d ms early', async (earlyMs) => {
    server.script(silent);
    const { client, clock } = testClient(server.origin, { ...options, timeoutMs: 5 * tryLimitMs });
    const call = rejection(client.agents.get('agt_1', { deadlineMs: 2 * tryLimitMs }));
    await server.received(1);
    expect(clock.limits).toEqual([2 * tryLimitMs]);
    clock.expire(2 * tryLimitMs - earlyMs);
    expect(await call).toMatchObject({
      name: 'APITimeoutError',
      message: expect.stringContaining('deadlineMs'),
    });
    expect(server.requests).toHaveLength(1);
  });

  it('a signal ends a call on its way, with its reason', async () => {
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

  it('a signal that aborted before sends nothing', async () => {
    server.script(ok);
    const { client } = testClient(server.origin, options);
    const call = client.agents.get('agt_1', { signal: AbortSignal.abort() });
    expect(await rejection(call)).toMatchObject({ name: 'APIAbortError' });
    expect(server.requests).toHaveLength(0);
  });

  it('a signal ends the wait before a retry', async () => {
    server.script(failure(503, 'OVERLOADED', { 'retry-after': '60' }));
    const { client, clock } = testClient(server.origin, options);
    clock.holdsWaits();
    const controller = new AbortController();
    const call = rejection(client.agents.get('agt_1', { signal: controller.signal }));
    await clock.timerStarted();
    expect(clock.waits).toEqual([60_000]);
    controller.abort();
    expect(await call).toMatchObject({ name: 'APIAbortError', attempts: 1 });
    expect(clock.running).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it('leaves no listener on a signal that many calls share', async () => {
    server.script(failure(503, 'OVERLOADED'), ok);
    const { client } = testClient(server.origin, options);
    const { signal } = new AbortController();
    for (let call = 0; call < 50; call += 1) await client.agents.get('agt_1', { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('over connections that are all taken', () => {
  it('a call that found none free in time says that it was not sent', async () => {
    server.script(silent, ok);
    const dispatcher = new Agent({ connections: 1 });
    const { client, clock } = testClient(server.origin, { dispatcher, maxRetries: 0 });
    const calls = ['agt_1', 'agt_2'].map((id) => rejection(client.agents.get(id)));
    await server.received(1);
    clock.expire(tryLimitMs);
    const [sent, unsent] = await Promise.all(calls);
    expect(sent).toMatchObject({ name: 'APITimeoutError', maybeSent: true });
    expect(sent?.message).toContain('no whole answer within');
    expect(unsent).toMatchObject({ name: 'APITimeoutError', maybeSent: false });
    expect(unsent?.message).toContain('no connection to send it over within');
    expect(server.requests).toHaveLength(1);
    await dispatcher.destroy();
  });
});

describe('over a fetch that ignores its signal', () => {
  it.each([
    ['begins', false],
    ['goes on', true],
  ])('an answer that %s behind its time is dropped, and the next one kept', async (_what, hasBegun) => {
    const answers: ServerResponse[] = [];
    server.script((response) => void answers.push(response));
    const { client, clock } = testClient(server.origin, { fetch: deafFetch });
    const call = client.agents.get('agt_1');
    await server.received(1);
    const [late] = answers as [ServerResponse];
    if (hasBegun) late.write('{"id":');
    clock.expire(tryLimitMs);
    await server.received(2);
    const closed = once(late, 'close');
    late.write(hasBegun ? '"late"' : '{"id":"late"');
    await closed; // its connection is given up, though the server has not ended it
    answers[1]?.end('{"id":"agt_1"}');
    expect(await call).toEqual({ id: 'agt_1' });
    expect(server.requests).toHaveLength(2);
  });
});

describe('limits that no timer can hold', () => {
  it('are cut', async () => {
    server.script(ok);
    const { client, clock } = testClient(server.origin);
    await client.agents.get('agt_1', { timeoutMs: Infinity });
    expect(clock.limits).toEqual([2 ** 31 - 1]);
  });

  it.each([0, -1, Number.NaN, '5'])('%j is refused', async (timeoutMs) => {
    const { client } = testClient(server.origin);
    const call = client.agents.get('agt_1', { timeoutMs: timeoutMs as number });
    expect(await rejection(call)).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('timeoutMs'),
    });
  });
});
