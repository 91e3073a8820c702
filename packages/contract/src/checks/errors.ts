import { parseRetryAfter } from '@actlog/client';
import { headers } from '@actlog/protocol';
import { type Check, check, lastCheck, safeCheck } from '../check.ts';
import {
  type ApiResponse,
  codeOf,
  describeResponse,
  errorOf,
  isGatewayError,
  isRetried,
  succeeded,
} from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

/** Number of concurrent requests in a burst. */
const atOnce = 10;

/** Number of times that another key may also be over its rate limit. */
const rounds = 3;

/** Sends requests until one returns 429, up to the limit of the run. */
async function provoked(run: Run): Promise<ApiResponse> {
  const { burst } = run.settings;
  for (let sent = 0; sent < burst; sent += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, burst - sent) }, () =>
      run.probe.call('sessions.list', { query: { limit: 1 }, once: true }),
    );
    const limited = (await Promise.all(batch)).find(({ status }) => status === 429);
    if (limited) return limited;
  }
  return skip(
    burst === 0
      ? 'the rate limit is not tested (set --burst to the number of requests to send)'
      : `none of ${burst} requests returned 429`,
  );
}

/** Checks of rates and versions, and of behavior that the specification leaves open. */
export const limitChecks: readonly Check[] = [
  safeCheck('LIM-01', 'another key while this one is over its rate', async (run) => {
    const key = run.secondTenantKey();
    const { clock, maxRetryAfterMs, signal } = run.settings;
    // The other key may be over its own rate limit: it must pass after the delay of `Retry-After`.
    for (let round = 1; ; round += 1) {
      await provoked(run);
      const response = await run.probe.call('sessions.list', { key, query: { limit: 1 }, once: true });
      if (succeeded(response)) return;
      const askedMs = parseRetryAfter(response.headers.get(headers.retryAfter), Date.now()) ?? 1000;
      if (!isRetried(response.status) || round === rounds || askedMs > maxRetryAfterMs)
        fail(`${describeResponse(response)} for a key that sent almost no requests`);
      await clock.sleep(askedMs, signal);
    }
  }),
  lastCheck('LIM-02', 'every 429 of the run', async (run) => {
    if (!run.probe.responses.some(({ status }) => status === 429)) await provoked(run);
    for (const response of run.probe.responses.filter(({ status }) => status === 429)) {
      const value = response.headers.get(headers.retryAfter);
      if (value === null) fail(`${describeResponse(response)}, without Retry-After`);
      if (parseRetryAfter(value, Date.now()) === undefined)
        fail(`${describeResponse(response)}, with Retry-After "${value}"`);
    }
  }),
  lastCheck('LIM-04', 'headers about the rate', async ({ probe }) => {
    const names = new Set(probe.responses.flatMap(({ headers: all }) => [...all.keys()]));
    return [...names].filter((name) => name.includes('ratelimit')).join(', ') || 'none';
  }),
  safeCheck('VER-01', 'GET /v1/sessions', async ({ probe }) => {
    const response = await probe.call('sessions.list', { query: { limit: 1 } });
    if ([404, 405, 501].includes(response.status)) fail(describeResponse(response));
  }),
  lastCheck('VER-02', 'headers about deprecation', async ({ probe }) => {
    const names = ['deprecation', 'sunset'].filter((name) =>
      probe.responses.some((response) => response.headers.has(name)),
    );
    return names.join(', ') || 'none';
  }),
  safeCheck('OUT-01', 'deliveries', async () => 'not checked: the specification does not define them'),
];

/** Statuses that mean something other than an invalid request. */
const takenStatuses = new Set([401, 429]);

/** Returns all errors of the run, except from gateways, which may not know the envelope. */
async function errorsOf(run: Run): Promise<readonly ApiResponse[]> {
  await run.provocations.all();
  return run.probe.responses.filter((response) => response.status >= 400 && !isGatewayError(response));
}

function everyError(
  requirement: string,
  name: string,
  fault: (response: ApiResponse) => string | undefined,
): Check {
  return lastCheck(requirement, name, async (run) => {
    const errors = await errorsOf(run);
    if (errors.length === 0) skip('no error occurred');
    for (const response of errors) {
      const found = fault(response);
      if (found !== undefined) fail(`${describeResponse(response)}, ${found}`);
    }
    return `${errors.length} errors`;
  });
}

/** Fields of an event with values of another type. */
const invalidFields: readonly (readonly [field: string, value: unknown])[] = [
  ['eventId', 'no-uuid'],
  ['agentId', 42],
  ['sessionId', 42],
  ['sourceTimestamp', 'yesterday'],
  ['category', 42],
  ['payload', 'text'],
];

/** Returns the response to an event with an invalid field; skips if it is accepted. */
async function invalidEvent(run: Run, field: string, value: unknown): Promise<ApiResponse> {
  const response = await run.traffic.post({ ...run.traffic.event(), [field]: value });
  if (response.status < 400) skip(`an invalid event is accepted (EVT): ${describeResponse(response)}`);
  return response;
}

function counted(texts: readonly string[]): string {
  return [...new Set(texts)].sort().join(', ');
}

/** Checks of the error envelope and its contents. */
export const errorChecks: readonly Check[] = [
  everyError('ERR-01', 'every error of the run', (response) => {
    const code = codeOf(response);
    return code === undefined || code === '' ? 'which has no error.code' : undefined;
  }),
  everyError('ERR-02', 'every error of the run', (response) => {
    if (errorOf(response) === undefined) return undefined;
    const message = errorOf(response)?.message;
    return typeof message === 'string' && message !== '' ? undefined : 'which has no error.message';
  }),
  everyError('ERR-03', 'every error of the run', (response) => {
    const details = errorOf(response)?.details;
    return details === undefined || Array.isArray(details)
      ? undefined
      : 'whose error.details is not an array';
  }),
  ...invalidFields.flatMap(([field, value]) => [
    check('ERR-04', `an event with an invalid ${field}`, async (run) => {
      const response = await invalidEvent(run, field, value);
      if (codeOf(response) !== 'VALIDATION_ERROR')
        fail(`${describeResponse(response)}; expected the code VALIDATION_ERROR`);
    }),
    check('ERR-06', `an event with an invalid ${field}`, async (run) => {
      const response = await invalidEvent(run, field, value);
      if (response.status >= 500 || takenStatuses.has(response.status)) fail(describeResponse(response));
    }),
  ]),
  check('ERR-05', 'an invalid event', async (run) => {
    const response = await invalidEvent(run, 'payload', 'text');
    const details = errorOf(response)?.details;
    if (!Array.isArray(details) || details.length === 0)
      fail(`${describeResponse(response)}, which has no details`);
  }),
  lastCheck('ERR-07', 'gateway errors of the run', async ({ probe }) => {
    const met = probe.responses.filter(isGatewayError);
    return met.length > 0
      ? `${met.length} times ${counted(met.map(({ status }) => String(status)))}`
      : 'none';
  }),
  lastCheck('ERR-08', 'codes of the run', async (run) => {
    const errors = await errorsOf(run);
    return counted(errors.map((response) => `${codeOf(response) ?? '(none)'} ${response.status}`)) || 'none';
  }),
  safeCheck('END-21', 'a path below the base URL', async ({ probe, settings }) => {
    const response = await probe.call('sessions.list', { query: { limit: 1 } });
    const isMissing =
      [404, 405, 501].includes(response.status) || (response.status >= 300 && response.status < 400);
    if (isMissing) fail(`${describeResponse(response)}: no service found below ${settings.baseURL}`);
  }),
  lastCheck('END-22', 'every response of the run', async (run) => {
    await run.provocations.all();
    for (const response of run.probe.responses) {
      if (response.text === '' || isGatewayError(response)) continue;
      const type = response.headers.get('content-type') ?? '';
      if (!/^application\/json\s*(;|$)/i.test(type))
        fail(`${describeResponse(response)}, with the content type "${type}"`);
      if (response.json === undefined) fail(`${describeResponse(response)}, which is not JSON`);
      if (response.hasByteOrderMark)
        fail(
          `${describeResponse(response)}, whose body begins with a byte order mark (RFC 8259, section 8.1)`,
        );
    }
  }),
  lastCheck('END-23', 'statuses of success', async ({ probe }) => {
    const met = probe.responses.filter(({ status, method }) => status < 300 && method !== 'GET');
    return counted(met.map(({ method, status }) => `${method} ${status}`));
  }),
];
