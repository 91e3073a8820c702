import { getEventListeners } from 'node:events';
import { APIConnectionError, type RequestOptions } from '@actlog/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, json, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient, testKey, transports } from './test-client.ts';
import { attemptLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const ok = json(200, { id: 'agt_1' }, { 'x-request-id': 'req_2' });

describe.each(transports)('hooks over %s', (_name, options) => {
  it('see every attempt, and may change its headers', async () => {
    server.script(failure(503, 'OVERLOADED', { 'x-request-id': 'req_1' }), ok);
    const seen: unknown[] = [];
    const { client } = testClient(server.origin, {
      ...options,
      hooks: {
        beforeRequest: async (request) => {
          seen.push(['before', request.method, request.url, request.attempt]);
          request.headers['x-trace'] = String(request.attempt);
          delete request.headers['x-service-sdk'];
        },
        afterResponse: ({ status, requestId, path, attempt, headers, durationMs }) => {
          seen.push(['after', path, status, requestId, attempt, headers.get('content-type'), durationMs]);
        },
        onRetry: ({ error, attempt, delayMs }) => void seen.push(['retry', error.code, attempt, delayMs]),
      },
    });
    await client.agents
      .list({ limit: 1 }, { maxRetries: 1 })
      .asResponse()
      .catch(() => {});
    const url = `${server.origin}/v1/agents?limit=1`;
    expect(seen).toEqual([
      ['before', 'GET', url, 1],
      ['after', '/v1/agents', 503, 'req_1', 1, 'application/json', 0],
      ['retry', 'OVERLOADED', 1, 250],
      ['before', 'GET', url, 2],
      ['after', '/v1/agents', 200, 'req_2', 2, 'application/json', 0],
    ]);
    expect(server.requests.map(({ headers }) => headers['x-trace'])).toEqual(['1', '2']);
    expect(server.requests[0]?.headers).not.toHaveProperty('x-service-sdk');
  });

  it.each([
    ['an error', new TypeError('mine')],
    ['an error of another call', new APIConnectionError('mine', { maybeSent: false })],
    ['a string', 'mine'],
    ['an object', { code: 'MINE' }],
    ['nothing', undefined],
  ])('that throw %s end the call with exactly that', async (_what, mine) => {
    const throwNow = () => {
      throw mine;
    };
    for (const fail of [throwNow, async () => throwNow()]) {
      for (const hooks of [{ beforeRequest: fail }, { afterResponse: fail }, { onRetry: fail }]) {
        server.script(failure(503, 'OVERLOADED'), ok);
        const { client, clock } = testClient(server.origin, { ...options, hooks });
        expect(await rejection(client.agents.get('agt_1'))).toBe(mine);
        expect(clock.delays).toEqual([]);
        expect(clock.running).toBe(0);
      }
    }
  });

  describe.each([
    ['beforeRequest', { maybeSent: false }],
    ['afterResponse', { maybeSent: true }],
    ['onRetry', { maybeSent: true }],
  ])('whose %s never settles', (hook, context) => {
    /** Starts a call that is stuck in the hook. */
    async function standingCall(callOptions: RequestOptions) {
      server.script(failure(503, 'OVERLOADED'));
      let enter: (() => void) | undefined;
      const entered = new Promise<void>((resolve) => {
        enter = resolve;
      });
      const hooks = { [hook]: () => new Promise<void>(() => enter?.()) };
      const { client, clock } = testClient(server.origin, { ...options, hooks });
      const call = rejection(client.agents.get('agt_1', callOptions));
      await entered;
      return { call, clock };
    }

    it('end the call when the signal aborts', async () => {
      const controller = new AbortController();
      const { call, clock } = await standingCall({ signal: controller.signal });
      controller.abort('enough');
      expect(await call).toMatchObject({ name: 'APIAbortError', cause: 'enough', attempts: 1 });
      expect(clock.running).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    });

    it('end the call when deadlineMs is exceeded', async () => {
      const { call, clock } = await standingCall({ deadlineMs: 2 * attemptLimitMs });
      clock.expire(2 * attemptLimitMs - 0.5); // Node timers may fire this early
      const error = await call;
      expect(error).toMatchObject({ name: 'APITimeoutError', attempts: 1, ...context });
      expect(error.message).toContain('deadlineMs');
      expect(clock.running).toBe(0);
    });
  });

  it('prevent a retry whose delay would exceed deadlineMs', async () => {
    server.script(failure(503, 'OVERLOADED'), ok);
    const hooks = { onRetry: () => clock.expire(2 * attemptLimitMs - 1) };
    const { client, clock } = testClient(server.origin, { ...options, hooks });
    const call = client.agents.get('agt_1', { deadlineMs: 2 * attemptLimitMs });
    expect(await rejection(call)).toMatchObject({ code: 'OVERLOADED', attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the log', () => {
  const collect = () => {
    const lines: unknown[][] = [];
    const add =
      (level: string) =>
      (...line: unknown[]) =>
        void lines.push([level, ...line]);
    return {
      lines,
      logger: { error: add('error'), warn: add('warn'), info: add('info'), debug: add('debug') },
    };
  };

  it('contains only the allowed fields', async () => {
    server.script(failure(503, 'OVERLOADED'), ok);
    const { lines, logger } = collect();
    const { client } = testClient(server.origin, { logger, logLevel: 'debug' });
    await client.agents.update('agt_1', { name: 'secret inside' }, { extraQuery: { secret: 'inside' } });
    const about = { method: 'PATCH', path: '/v1/agents/agt_1' };
    expect(lines).toEqual([
      [
        'debug',
        '[actlog] response received',
        { ...about, status: 503, attempt: 1, durationMs: 0, requestId: undefined },
      ],
      [
        'info',
        '[actlog] retrying',
        { ...about, status: 503, code: 'OVERLOADED', attempt: 1, delayMs: 250, requestId: undefined },
      ],
      [
        'debug',
        '[actlog] response received',
        { ...about, status: 200, attempt: 2, durationMs: 0, requestId: 'req_2' },
      ],
    ]);
    expect(JSON.stringify(lines)).not.toContain(testKey);
  });

  it.each([
    ['off', 0],
    ['warn', 0],
    ['info', 1],
    ['debug', 3],
  ] as const)('at level %s holds %d lines', async (logLevel, count) => {
    server.script(failure(503, 'OVERLOADED'), ok);
    const { lines, logger } = collect();
    await testClient(server.origin, { logger, logLevel }).client.agents.get('agt_1');
    expect(lines).toHaveLength(count);
  });

  it('may throw without failing the call', async () => {
    server.script(ok);
    const fail = () => {
      throw new Error('disk full');
    };
    const logger = { error: fail, warn: fail, info: fail, debug: fail };
    const { client } = testClient(server.origin, { logger, logLevel: 'debug' });
    expect(await client.agents.get('agt_1')).toEqual({ id: 'agt_1' });
  });
});

describe('the promise of a call', () => {
  it('sends once, whichever methods are used', async () => {
    server.script(ok);
    const call = testClient(server.origin).client.agents.get('agt_1');
    const [data, { response, attempts }, again] = await Promise.all([
      call,
      call.withResponse(),
      call.asResponse(),
    ]);
    expect([data, await response.json(), await again.json()]).toEqual(Array(3).fill({ id: 'agt_1' }));
    expect([response.status, response.headers.get('x-request-id'), attempts]).toEqual([200, 'req_2', 1]);
    expect(server.requests).toHaveLength(1);
    expect(await call.finally(() => {})).toEqual(data);
    expect(Object.prototype.toString.call(call)).toBe('[object RequestPromise]');
  });

  it('sends immediately, even if it is not awaited', async () => {
    server.script(ok);
    void testClient(server.origin).client.agents.get('agt_1');
    await server.received(1);
  });

  it('can be caught', async () => {
    server.script(failure(404, 'NOT_FOUND'));
    const call = testClient(server.origin).client.agents.get('agt_1');
    expect(await call.catch((error) => error.code)).toBe('NOT_FOUND');
    await expect(call.withResponse()).rejects.toThrow('NOT_FOUND');
  });

  it('has a stack trace with the line of the await', async () => {
    server.script(failure(404, 'NOT_FOUND'));
    const { client } = testClient(server.origin);
    const waiters = {
      async waitsForCall() {
        await client.agents.get('agt_1');
      },
      async waitsForPage() {
        await client.agents.list();
      },
      async loopsOverItems() {
        for await (const _agent of client.agents.list());
      },
    };
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 30;
    try {
      for (const [name, waiter] of Object.entries(waiters)) {
        expect((await rejection(waiter())).stack).toMatch(new RegExp(`at (async )?${name}`));
      }
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  });
});
