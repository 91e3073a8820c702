import { endpointNames, endpoints, keyPrefixes } from '@actlog/protocol';
import { type Check, type CheckBody, check, lastCheck, safeCheck } from '../check.ts';
import { type ApiResponse, codeOf, describeResponse, errorOf } from '../http/api-response.ts';
import type { Sent } from '../http/probe.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { expectStatus, expectSuccess } from './expectations.ts';

/** Returns a key with its last characters changed. */
function altered(key: string): string {
  const changed = key.endsWith('0000') ? '1111' : '0000';
  return key.slice(0, -4) + changed;
}

/** Credentials that must be rejected. */
const wrongCredentials: readonly (readonly [name: string, sent: (key: string) => Sent])[] = [
  ['no header', () => ({ key: null })],
  ['an empty key', () => ({ key: null, headers: { authorization: 'Bearer ' } })],
  ['an altered key', (key) => ({ key: altered(key) })],
  ['a key that was never issued', () => ({ key: `${keyPrefixes.test}contract0never0given0out` })],
  ['another scheme', (key) => ({ key: null, headers: { authorization: `Basic ${btoa(`${key}:`)}` } })],
  ['the key without a scheme', (key) => ({ key: null, headers: { authorization: key } })],
];

/** Sends a request without credentials. Its body is empty, so that it has no effect if it is accepted. */
function anonymous({ probe }: Run, name: (typeof endpointNames)[number], id: string): Promise<ApiResponse> {
  const { body, path } = endpoints[name];
  return probe.call(name, { key: null, ...(path.includes(':id') && { id }), ...(body && { body: {} }) });
}

/** Fails unless a response rejects credentials as the specification requires. */
function expectRefusedKey(response: ApiResponse): void {
  expectStatus(response, 401);
  if (codeOf(response) !== 'AUTHENTICATION_FAILED')
    fail(`${describeResponse(response)}; expected the code AUTHENTICATION_FAILED`);
}

function optionalHeaders(headers: Readonly<Record<string, string | null>>): CheckBody {
  return async ({ probe, traffic, settings }) => {
    expectSuccess(await probe.call('sessions.list', { query: { limit: 1 }, headers }));
    if (!settings.readOnly) expectSuccess(await traffic.post(traffic.event(), headers));
  };
}

/** Checks of keys and headers. */
export const authenticationChecks: readonly Check[] = [
  ...endpointNames.map((name) => {
    const { method, path } = endpoints[name];
    const make = method === 'GET' ? safeCheck : check;
    return make('AUT-01', `${method} ${path}`, async (run) => {
      expectStatus(await anonymous(run, name, run.newName('nothing')), 401);
    });
  }),
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
  safeCheck('AUT-04', 'the retired key', async ({ probe, settings }) => {
    const key = settings.retiredKey ?? skip('no retired key was given (--retired-key)');
    expectRefusedKey(await probe.call('sessions.list', { key }));
  }),
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
  ...wrongCredentials.slice(0, 3).map(([name, sent]) =>
    safeCheck('AUT-06', name, async ({ probe, settings }) => {
      const response = await probe.call('sessions.list', sent(settings.apiKey));
      if (response.status !== 401)
        skip(`the credentials are not rejected (AUT-05): ${describeResponse(response)}`);
      const message = String(errorOf(response)?.message);
      const says =
        /api.?key/i.test(message) && /invalid|missing|not valid|unknown|absent|required/i.test(message);
      if (!says) fail(`the message is "${message}"; it should say that the API key is invalid or missing`);
    }),
  ),
  safeCheck('AUT-07', 'omitted', optionalHeaders({ 'x-service-sdk': null })),
  safeCheck(
    'AUT-07',
    'sent',
    optionalHeaders({
      'x-service-sdk': 'actlog-contract/1.0.0',
      'x-service-framework': 'contract-framework',
      'x-service-agent-version': '1.2.3',
    }),
  ),
  lastCheck('AUT-09', 'requests that the key may not make', async ({ probe }) => {
    const refused = probe.responses.filter(({ status }) => status === 403);
    const paths = new Set(refused.map(({ method, path }) => `${method} ${path.split('?', 1)[0]}`));
    return paths.size > 0 ? [...paths].slice(0, 20).join(', ') : 'none of the requests of this run';
  }),
];
