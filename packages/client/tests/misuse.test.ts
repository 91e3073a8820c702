import { type Actlog, type EventInput, InvalidArgumentError, Webhooks } from '@actlog/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { json, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient } from './test-client.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => server.script(json(200, { items: [], nextCursor: null })));

const event: EventInput = { agentId: 'a', sessionId: 's', category: 'x', payload: {} };
const wrong = (value: unknown) => value as never;

/** Calls as JavaScript can make them, with what each is told. */
const misuses: [what: string, call: (client: Actlog) => unknown, message: RegExp][] = [
  [
    'a controller for its signal',
    (client) => client.agents.get('a', { signal: wrong(new AbortController()) }),
    /^signal must be an AbortSignal/,
  ],
  [
    'a controller for the signal of a list',
    (client) => client.agents.list({}, { signal: wrong(new AbortController()) }).toArray(),
    /^signal must be an AbortSignal/,
  ],
  [
    'a Headers for headers',
    (client) => client.agents.get('a', { headers: wrong(new Headers({ 'x-own': '1' })) }),
    /^headers must be a plain object/,
  ],
  [
    'a Headers for the headers of the client',
    (client) => client.withOptions({ headers: wrong(new Headers({ 'x-own': '1' })) }),
    /^headers must be a plain object/,
  ],
  [
    "another library's name for a level of the log",
    (client) => client.withOptions({ logLevel: wrong('silent') }),
    /^logLevel must be one of off, error, warn, info, debug, and is "silent"\.$/,
  ],
  [
    'URLSearchParams for filters',
    (client) => client.sessions.list(wrong(new URLSearchParams({ agentId: 'a' }))).toArray(),
    /^query must be a plain object/,
  ],
  [
    'a text for filters',
    (client) => client.sessions.list(wrong('agentId=a')).toArray(),
    /^query must be a plain object/,
  ],
  [
    'a bare number for the limit of toArray',
    (client) => client.sessions.list().toArray(wrong(10)),
    /^toArray takes an object: { limit }\.$/,
  ],
  [
    'a text for a page size',
    (client) => client.sessions.list({ limit: wrong('10') }).toArray(),
    /^limit must be a whole number from 1, and is "10"\.$/,
  ],
  [
    'milliseconds for a sourceTimestamp',
    (client) => client.events.create({ ...event, sourceTimestamp: wrong(1_760_000_000_000) }),
    /^sourceTimestamp is no valid Date/,
  ],
  [
    'a URL for the path of an export',
    (client) => client.sessions.exportToFile('s', wrong(new URL('file:///tmp/session.json'))),
    /^path must be the path of a file, and is object: fileURLToPath/,
  ],
  [
    'an empty path for an export',
    (client) => client.sessions.exportToFile('s', ''),
    /^path must be the path of a file, and is ""/,
  ],
  [
    'a request without a method',
    (client) => client.request('/v1/agents', wrong(undefined)),
    /^path must be relative to baseURL/,
  ],
];

describe('what types would forbid', () => {
  it.each(misuses)('%s is refused before anything is sent', async (_what, call, message) => {
    const { client } = testClient(server.origin);
    const error = await rejection((async () => call(client))());
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(error.message).toMatch(message);
    expect(server.requests).toEqual([]);
  });

  it('a webhook is neither signed nor unwrapped', async () => {
    const webhooks = new Webhooks();
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const sign = (body: unknown, timestamp: unknown) =>
      webhooks.sign(wrong(body), secret, { timestamp: wrong(timestamp) });
    const headers = await webhooks.sign('{}', secret);
    for (const [call, message] of [
      [() => sign({ type: 'x' }, undefined), /^body must be the text or the bytes/],
      [() => sign('{}', new Date(Number.NaN)), /^timestamp must be a valid Date/],
      [() => webhooks.unwrap('{}', wrong(undefined), secret), /^headers must be those of the request/],
      [() => webhooks.sign('{}', wrong(Buffer.from(secret))), /^secret must be the whsec_/],
      [() => webhooks.unwrap('{}', headers, wrong([Buffer.from(secret)])), /^secret must be the whsec_/],
    ] as const) {
      const error = await rejection(call());
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(error.message).toMatch(message);
    }
  });
});
