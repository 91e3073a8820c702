import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, json, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient, transports } from './test-client.ts';
import { attemptLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const ok = json(200, { id: 'agt_1' });
const limited = (retryAfter: string | string[]) =>
  json(429, { error: { code: 'RATE_LIMITED', message: 'slow down' } }, { 'retry-after': retryAfter });

describe.each(transports)('retryable responses over %s', (_name, options) => {
  it.each([
    ['whole seconds', '2', 2_000],
    ['a fraction', '0.25', 250],
    ['zero', '0', 0],
    ['a date, compared with the Date of the response', 'Thu, 01 Jan 2015 00:00:07 GMT', 7_000],
    ['a date in the past', 'Wed, 31 Dec 2014 00:00:00 GMT', 0],
    ['two values joined by a gateway', '1, 3', 3_000],
  ])('follows a Retry-After with %s', async (_what, retryAfter, waitMs) => {
    const date = { date: 'Thu, 01 Jan 2015 00:00:00 GMT', 'retry-after': retryAfter };
    server.script(failure(429, 'RATE_LIMITED', date), ok);
    const { client, clock } = testClient(server.origin, options);
    await client.agents.get('agt_1');
    expect(clock.delays).toEqual(waitMs === 0 ? [] : [waitMs]);
    expect(server.requests).toHaveLength(2);
  });

  it.each(['', '-1', 'soon', 'NaN', '1e9', '0x10', '2026-01-01T00:00:00Z', 'Infinity'])(
    'backs off for an invalid Retry-After (%j)',
    async (retryAfter) => {
      server.script(limited(retryAfter), ok);
      const { client, clock } = testClient(server.origin, options);
      await client.agents.get('agt_1');
      expect(clock.delays).toEqual([250]);
    },
  );

  it('fails at once for a Retry-After beyond maxRetryAfterMs, and reports it', async () => {
    server.script(limited('121'), ok);
    const { client, clock } = testClient(server.origin, options);
    const error = await rejection(client.agents.get('agt_1'));
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfterMs: 121_000, attempts: 1, status: 429 });
    expect(clock.delays).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('accepts maxRetryAfterMs per call', async () => {
    server.script(limited('121'), ok);
    const { client, clock } = testClient(server.origin, options);
    await client.agents.get('agt_1', { maxRetryAfterMs: 121_000 });
    expect(clock.delays).toEqual([121_000]);
  });

  it('limits an absurd Retry-After to the longest timer', async () => {
    server.script(limited('99999999999999999999'), ok);
    const { client, clock } = testClient(server.origin, { ...options, maxRetryAfterMs: 2 ** 31 - 1 });
    const call = client.agents.get('agt_1');
    await clock.timerStarted(); // the delay; the time limit of the attempt has been running since the call
    expect(clock.limits).toEqual([attemptLimitMs, 2 ** 31 - 1]);
    clock.expire(2 ** 31 - 1);
    await call;
  });

  it.each([502, 503, 504])('retries a %i three times with exponential backoff', async (status) => {
    server.script(json(status, '<html>'));
    const { client, clock } = testClient(server.origin, options);
    const error = await rejection(client.agents.create({ name: 'n' }));
    expect(error).toMatchObject({ name: 'ServiceUnavailableError', status, attempts: 4 });
    expect(clock.delays).toEqual([250, 500, 1_000]);
    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toBeDefined();
  });

  it('follows the Retry-After of a 503', async () => {
    server.script(failure(503, 'OVERLOADED', { 'retry-after': '9' }), ok);
    const { client, clock } = testClient(server.origin, options);
    await client.agents.get('agt_1');
    expect(clock.delays).toEqual([9_000]);
  });

  it.each([400, 401, 403, 404, 408, 409, 413, 418, 422, 500, 501, 505])(
    'does not retry a %i',
    async (status) => {
      server.script(failure(status, 'SOME_CODE', { 'retry-after': '1' }), ok);
      const { client, clock } = testClient(server.origin, options);
      expect(await rejection(client.agents.get('agt_1'))).toMatchObject({ status, attempts: 1 });
      expect(clock.delays).toEqual([]);
    },
  );

  it('keeps the id of an event in all attempts', async () => {
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

  it('accepts maxRetries for the client and per call', async () => {
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
  it('never exceeds the bound of a delay, and makes 1 + maxRetries attempts', async () => {
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
          clock.delays.forEach((waitMs, index) => {
            expect(waitMs).toBeLessThanOrEqual(Math.min(8_000, 500 * 2 ** index));
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('does not start a delay that would exceed deadlineMs', async () => {
    server.script(limited('1000'), ok);
    const limits = { deadlineMs: attemptLimitMs, maxRetryAfterMs: 2 * attemptLimitMs };
    const { client, clock } = testClient(server.origin, limits);
    const error = await rejection(client.agents.get('agt_1'));
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfterMs: 1_000_000 });
    expect(clock.delays).toEqual([]);
  });

  it('ignores the wall clock if the response has a date', async () => {
    const headers = { date: 'Thu, 01 Jan 2015 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2015 00:00:03 GMT' };
    const { client, clock } = testClient(server.origin);
    server.script((response, request) => {
      clock.wallMs -= 86_400_000 * 365;
      (server.requests.length === 1 ? failure(429, 'RATE_LIMITED', headers) : ok)(response, request);
    });
    await client.agents.get('agt_1');
    expect(clock.delays).toEqual([3_000]);
  });
});
