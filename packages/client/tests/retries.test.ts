import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, json, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient, transports } from './test-client.ts';
import { tryLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const ok = json(200, { id: 'agt_1' });
const limited = (retryAfter: string | string[]) =>
  json(429, { error: { code: 'RATE_LIMITED', message: 'slow down' } }, { 'retry-after': retryAfter });

describe.each(transports)('answers that ask for another try, over %s', (_name, options) => {
  it.each([
    ['whole seconds', '2', 2_000],
    ['a fraction', '0.25', 250],
    ['nothing to wait for', '0', 0],
    ['a date, compared with the Date of the answer', 'Thu, 01 Jan 2015 00:00:07 GMT', 7_000],
    ['a date that is past', 'Wed, 31 Dec 2014 00:00:00 GMT', 0],
    ['two values that a gateway joined', '1, 3', 3_000],
  ])('429 with %s', async (_what, retryAfter, waitMs) => {
    const date = { date: 'Thu, 01 Jan 2015 00:00:00 GMT', 'retry-after': retryAfter };
    server.script(failure(429, 'RATE_LIMITED', date), ok);
    const { client, clock } = testClient(server.origin, options);
    await client.agents.get('agt_1');
    expect(clock.waits).toEqual(waitMs === 0 ? [] : [waitMs]);
    expect(server.requests).toHaveLength(2);
  });

  it.each(['', '-1', 'soon', 'NaN', '1e9', '0x10', '2026-01-01T00:00:00Z', 'Infinity'])(
    '429 with a Retry-After that is none (%j) backs off instead',
    async (retryAfter) => {
      server.script(limited(retryAfter), ok);
      const { client, clock } = testClient(server.origin, options);
      await client.agents.get('agt_1');
      expect(clock.waits).toEqual([250]);
    },
  );

  it('429 with a Retry-After beyond maxRetryAfterMs fails at once and says how long', async () => {
    server.script(limited('121'), ok);
    const { client, clock } = testClient(server.origin, options);
    const error = await rejection(client.agents.get('agt_1'));
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfterMs: 121_000, attempts: 1, status: 429 });
    expect(clock.waits).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('maxRetryAfterMs counts for the call', async () => {
    server.script(limited('121'), ok);
    const { client, clock } = testClient(server.origin, options);
    await client.agents.get('agt_1', { maxRetryAfterMs: 121_000 });
    expect(clock.waits).toEqual([121_000]);
  });

  it('an absurd Retry-After is cut to what a timer can hold', async () => {
    server.script(limited('99999999999999999999'), ok);
    const { client, clock } = testClient(server.origin, { ...options, maxRetryAfterMs: 2 ** 31 - 1 });
    const call = client.agents.get('agt_1');
    await clock.timerStarted(); // the wait; the limit of the try runs since the call
    expect(clock.limits).toEqual([tryLimitMs, 2 ** 31 - 1]);
    clock.expire(2 ** 31 - 1);
    await call;
  });

  it.each([502, 503, 504])('%i backs off exponentially, three times', async (status) => {
    server.script(json(status, '<html>'));
    const { client, clock } = testClient(server.origin, options);
    const error = await rejection(client.agents.create({ name: 'n' }));
    expect(error).toMatchObject({ name: 'ServiceUnavailableError', status, attempts: 4 });
    expect(clock.waits).toEqual([250, 500, 1_000]);
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toBeDefined();
  });

  it('503 honours Retry-After', async () => {
    server.script(failure(503, 'OVERLOADED', { 'retry-after': '9' }), ok);
    const { client, clock } = testClient(server.origin, options);
    await client.agents.get('agt_1');
    expect(clock.waits).toEqual([9_000]);
  });

  it.each([400, 401, 403, 404, 408, 409, 413, 418, 422, 500, 501, 505])('%i is final', async (status) => {
    server.script(failure(status, 'SOME_CODE', { 'retry-after': '1' }), ok);
    const { client, clock } = testClient(server.origin, options);
    expect(await rejection(client.agents.get('agt_1'))).toMatchObject({ status, attempts: 1 });
    expect(clock.waits).toEqual([]);
  });

  it('an event keeps its id through all tries', async () => {
    server.script(
      failure(503, 'OVERLOADED'),
      failure(429, 'RATE_LIMITED'),
      failure(504, 'X'),
      failure(502, 'X'),
    );
    const { client } = testClient(server.origin, options);
    const event = { agentId: 'a', sessionId: 's', category: 'note', payload: {} };
    await rejection(client.events.create(event));
    expect(server.requests).toHaveLength(4);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  });

  it('maxRetries counts for the client and for the call', async () => {
    server.script(failure(503, 'OVERLOADED'));
    const { client } = testClient(server.origin, { ...options, maxRetries: 1 });
    expect(await rejection(client.agents.get('agt_1'))).toMatchObject({ attempts: 2 });
    const once = client.agents.get('agt_1', { maxRetries: 0 });
    expect(await rejection(once)).toMatchObject({ attempts: 1 });
    for (const option of ['maxRetries', 'maxRetryAfterMs', 'maxResponseBytes']) {
      const wrong = client.agents.get('agt_1', { [option]: Number.NaN });
      expect(await rejection(wrong)).toMatchObject({ message: expect.stringContaining(`${option} must be`) });
    }
  });
});

describe('timing', () => {
  it('never waits longer than the bound of its retry, and tries 1 + maxRetries times', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 6 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (maxRetries, chance) => {
          server.script(failure(503, 'OVERLOADED'));
          const { client, clock } = testClient(server.origin, { maxRetries });
          clock.chance = chance;
          await rejection(client.agents.get('agt_1'));
          expect(server.requests).toHaveLength(1 + maxRetries);
          clock.waits.forEach((waitMs, index) => {
            expect(waitMs).toBeLessThanOrEqual(Math.min(8_000, 500 * 2 ** index));
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('does not start a wait that would end behind deadlineMs', async () => {
    server.script(limited('1000'), ok);
    const limits = { deadlineMs: tryLimitMs, maxRetryAfterMs: 2 * tryLimitMs };
    const { client, clock } = testClient(server.origin, limits);
    const error = await rejection(client.agents.get('agt_1'));
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfterMs: 1_000_000 });
    expect(clock.waits).toEqual([]);
  });

  it('does not look at the wall clock where the answer has a date, so a clock that jumps does no harm', async () => {
    const headers = { date: 'Thu, 01 Jan 2015 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2015 00:00:03 GMT' };
    const { client, clock } = testClient(server.origin);
    server.script((response, request) => {
      clock.wallMs -= 86_400_000 * 365;
      (server.requests.length === 1 ? failure(429, 'RATE_LIMITED', headers) : ok)(response, request);
    });
    await client.agents.get('agt_1');
    expect(clock.waits).toEqual([3_000]);
  });
});
