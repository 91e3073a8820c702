import { type EndpointName, endpointNames, endpoints, keyPrefixes } from '@actlog/protocol';
import { type Check, check, lastCheck, safeCheck } from '../check.ts';
import {
  type ApiResponse,
  codeOf,
  describeResponse,
  errorOf,
  mentions,
  succeeded,
} from '../http/api-response.ts';
import type { Sent } from '../http/probe.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { expectStatus, expectSuccess } from './expectations.ts';

/** Returns a key with its last characters changed. */
function altered(key: string): string {
  const changed = key.endsWith('0000') ? '1111' : '0000';
  return key.slice(0, -4) + changed;
}

/** Returns a key with the case of the letters after its prefix swapped; an altered key if it has no letters. */
function inOtherCase(key: string): string {
  const prefix = Object.values(keyPrefixes).find((one) => key.startsWith(one)) ?? '';
  const swapped = key
    .slice(prefix.length)
    .replace(/[a-z]/gi, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
  return prefix + swapped === key ? altered(key) : prefix + swapped;
}

/** Credentials that must be rejected. */
const wrongCredentials: readonly (readonly [name: string, sent: (key: string) => Sent])[] = [
  ['no header', () => ({ key: null })],
  ['an empty key', () => ({ key: null, headers: { authorization: 'Bearer ' } })],
  ['an altered key', (key) => ({ key: altered(key) })],
  ['a key with further characters', (key) => ({ key: `${key}0` })],
  ['a key without its last character', (key) => ({ key: key.slice(0, -1) })],
  ['a key in the other case', (key) => ({ key: inOtherCase(key) })],
  ['a key that was never issued', () => ({ key: `${keyPrefixes.test}contract0never0given0out` })],
  ['another scheme', (key) => ({ key: null, headers: { authorization: `Basic ${btoa(`${key}:`)}` } })],
  ['the key without a scheme', (key) => ({ key: null, headers: { authorization: key } })],
];

/** Sends a request with other credentials. Its body is empty, so that it has no effect if it is accepted. */
function sendAs(run: Run, name: EndpointName, credentials: Sent): Promise<ApiResponse> {
  const { body, path } = endpoints[name];
  const id = path.includes(':id') && { id: run.newName('nothing') };
  return run.probe.call(name, { ...credentials, ...id, ...(body && { body: {} }) });
}

/** Creates a check that an endpoint rejects credentials with status 401 and the code of the specification. */
function rejects(name: EndpointName, what: string, requirement: string, sent: (run: Run) => Sent): Check {
  const { method, path } = endpoints[name];
  const make = method === 'GET' ? safeCheck : check;
  return make(requirement, `${method} ${path}${what}`, async (run) => {
    expectRefusedKey(await sendAs(run, name, sent(run)));
  });
}

/** The word for a key in the languages of messages that the check understands. */
const wordsForKey =
  /schl(ü|ue)ssel|cl[eé]\b|clave|llave|chiave|chave|sleutel|nyckel|nøkkel|nøgle|avain|klucz|klíč|kulcs|anahtar|ключ|κλειδί|מפתח|مفتاح|कुंजी|密钥|金鑰|キー|鍵|키/iu;

/** `true` if a message can say that the API key is invalid or missing; its language is the deployment's choice. */
function speaksOfKey(message: string): boolean {
  if (wordsForKey.test(message)) return true;
  if (!/api.?key/i.test(message)) return /\bAPI\b/i.test(message) && /\P{ASCII}/u.test(message);
  const rest = message.replace(/api.?key/gi, '');
  return /invalid|missing|not valid|unknown|absent|required/i.test(rest) || !isEnglish(rest);
}

/** `true` if text has words that only English has; without them it may be in any language. */
function isEnglish(text: string): boolean {
  return (
    /\b(the|is|are|your|you|this|that|with|please|and|not|was|away)\b/i.test(text) || !/\p{L}{3}/u.test(text)
  );
}

/** Fails unless a response rejects credentials as the specification requires. */
function expectRefusedKey(response: ApiResponse): void {
  expectStatus(response, 401);
  if (codeOf(response) !== 'AUTHENTICATION_FAILED')
    fail(`${describeResponse(response)}; expected the code AUTHENTICATION_FAILED`);
}

/** Optional headers that are left out or sent. */
const optionalHeaders: readonly (readonly [
  name: string,
  headers: Readonly<Record<string, string | null>>,
])[] = [
  ['omitted', { 'x-service-sdk': null }],
  [
    'sent',
    {
      'x-service-sdk': 'actlog-contract/1.0.0',
      'x-service-framework': 'contract-framework',
      'x-service-agent-version': '1.2.3',
    },
  ],
];

/** Checks of keys and headers. */
export const authenticationChecks: readonly Check[] = [
  ...endpointNames.map((name) => rejects(name, '', 'AUT-01', () => ({ key: null }))),
  ...endpointNames.map((name) =>
    rejects(name, ', an altered key', 'AUT-05', ({ settings }) => ({ key: altered(settings.apiKey) })),
  ),
  safeCheck('AUT-02', 'the key of this run', async ({ settings }) => {
    const prefixes = Object.values(keyPrefixes);
    for (const key of [settings.apiKey, settings.secondTenantKey, settings.retiredKey]) {
      if (key === undefined || prefixes.some((prefix) => key.startsWith(prefix))) continue;
      fail(`a key of this run has none of the prefixes ${prefixes.join(', ')}`);
    }
  }),
  safeCheck('AUT-03', 'the key of this run', async ({ probe }) => {
    expectSuccess(await probe.call('sessions.list', { query: { limit: 1 } }));
  }),
  ...endpointNames.map((name) =>
    rejects(name, '', 'AUT-04', ({ settings }) => ({
      key: settings.retiredKey ?? skip('no retired key was given (ACTLOG_RETIRED_KEY)'),
    })),
  ),
  ...wrongCredentials.flatMap(([name, sent]) => [
    safeCheck('AUT-05', name, async ({ probe, settings }) => {
      expectRefusedKey(await probe.call('sessions.list', sent(settings.apiKey)));
    }),
    check('AUT-05', `${name}, for an event`, async ({ probe, settings, traffic }) => {
      expectRefusedKey(
        await probe.call('events.create', { ...sent(settings.apiKey), body: traffic.event() }),
      );
    }),
  ]),
  check('AUT-05', 'an event with an altered key is not recorded', async (run) => {
    const valid = run.traffic.event({ sessionId: run.newName('unkeyed') });
    const refused = run.traffic.event({ sessionId: valid.sessionId });
    const key = altered(run.settings.apiKey);
    const response = await run.probe.call('events.create', { key, body: refused });
    if (response.status !== 401) skip(`the key is not rejected: ${describeResponse(response)}`);
    if (!succeeded(await run.traffic.post(valid))) skip('events are not accepted (END-01)');
    const session = { id: valid.sessionId, agentId: valid.agentId, events: [valid] };
    const { document } = await run.traffic.detail(session);
    if (mentions(document, refused.eventId)) fail('an event that was rejected with 401 is in its session');
  }),
  lastCheck('AUT-06', 'every 401 of the run', async ({ probe }) => {
    const refused = probe.responses.filter(({ status }) => status === 401);
    if (refused.length === 0) skip('no credentials are rejected (AUT-05)');
    for (const response of refused) {
      const message = String(errorOf(response)?.message);
      if (!speaksOfKey(message))
        fail(
          `${describeResponse(response)} with the message "${message}"; it should say that the API key is invalid or missing`,
        );
    }
  }),
  ...optionalHeaders.flatMap(([name, headers]) => [
    safeCheck('AUT-07', name, async ({ probe }) => {
      expectSuccess(await probe.call('sessions.list', { query: { limit: 1 }, headers }));
    }),
    check('AUT-07', `${name}, for an event`, async ({ traffic }) => {
      await traffic.expectTaken(await traffic.post(traffic.event(), headers));
    }),
  ]),
  lastCheck('AUT-09', 'requests that the key may not make', async ({ probe }) => {
    const refused = probe.responses.filter(({ status }) => status === 403);
    const paths = new Set(refused.map(({ method, path }) => `${method} ${path.split('?', 1)[0]}`));
    return paths.size > 0 ? [...paths].slice(0, 20).join(', ') : 'none of the requests of this run';
  }),
];
