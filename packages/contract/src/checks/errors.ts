import { type Check, check, lastCheck, safeCheck } from '../check.ts';
import { type ApiResponse, codeOf, describeResponse, errorOf, isGatewayError } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

/** Statuses that mean something other than an invalid request. */
const takenStatuses = new Set([401, 429]);

/** Returns all errors of the run, without those of gateways, which may not know the envelope. */
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
