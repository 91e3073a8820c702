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

/** Invalid calls from JavaScript, with the expected error messages. */
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
    /^logLevel must be one of off, error, warn, info, debug, got "silent"\.$/,
  ],
  [
    'URLSearchParams for filters',
    (client) => client.sessions.list(wrong(new URLSearchParams({ agentId: 'a' }))).toArray(),
    /^query must be a plain object/,
  ],
  [
    'a string for filters',
    (client) => client.sessions.list(wrong('agentId=a')).toArray(),
    /^query must be a plain object/,
  ],
  [
    'a bare number for the limit of toArray',
    (client) => client.sessions.list().toArray(wrong(10)),
    /^toArray takes an options object, such as { limit: 10 }\.$/,
  ],
  [
    'a string for a page size',
    (client) => client.sessions.list({ limit: wrong('10') }).toArray(),
    /^limit must be an integer of at least 1, got "10"\.$/,
  ],
  [
    'milliseconds for a sourceTimestamp',
    (client) => client.events.create({ ...event, sourceTimestamp: wrong(1_760_000_000_000) }),
    /^sourceTimestamp must be a valid Date/,
  ],
  [
    'a URL for the path of an export',
    (client) => client.sessions.exportToFile('s', wrong(new URL('file:///tmp/session.json'))),
    /^path must be a file path \(convert a URL with fileURLToPath\), got object/,
  ],
  [
    'an empty path for an export',
    (client) => client.sessions.exportToFile('s', ''),
    /^path must be a file path .*, got ""/,
  ],
  [
    'a request without a method',
    (client) => client.request('/v1/agents', wrong(undefined)),
    /^path must be relative to baseURL/,
  ],
];

describe('arguments that the types forbid', () => {
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
      [() => sign({ type: 'x' }, undefined), /^body must be the raw text or bytes/],
      [() => sign('{}', new Date(Number.NaN)), /^timestamp must be a valid Date/],
      [() => webhooks.unwrap('{}', wrong(undefined), secret), /^headers must be the headers of the request/],
      [() => webhooks.sign('{}', wrong(Buffer.from(secret))), /^secret must be the whsec_/],
      [() => webhooks.unwrap('{}', headers, wrong([Buffer.from(secret)])), /^secret must be the whsec_/],
    ] as const) {
      const error = await rejection(call());
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(error.message).toMatch(message);
    }
  });
});
