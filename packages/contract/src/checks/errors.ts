import { type Check, check, lastCheck, safeCheck } from '../check.ts';
import { type Answer, codeOf, errorOf, isGatewayError, told } from '../http/answer.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

/** Statuses that tell clients something else than that a request is not valid. */
const takenStatuses = new Set([401, 429]);

/** All errors of the run; a gateway in front of the service may not know the envelope. */
async function errorsOf(run: Run): Promise<readonly Answer[]> {
  await run.provocations.all();
  return run.probe.answers.filter((answer) => answer.status >= 400 && !isGatewayError(answer));
}

function everyError(requirement: string, name: string, fault: (answer: Answer) => string | undefined): Check {
  return lastCheck(requirement, name, async (run) => {
    const errors = await errorsOf(run);
    if (errors.length === 0) skip('no error was met');
    for (const answer of errors) {
      const found = fault(answer);
      if (found !== undefined) fail(`${told(answer)}, ${found}`);
    }
    return `${errors.length} errors`;
  });
}

/** The answer to an event that breaks its types in every way; skips where it is taken. */
async function invalidEvent(run: Run): Promise<Answer> {
  const answer = await run.traffic.post({ ...run.traffic.event({ eventId: 'no-uuid' }), payload: 'text' });
  if (answer.status < 400) skip(`an invalid event is taken (EVT-01): ${told(answer)}`);
  return answer;
}

function counted(texts: readonly string[]): string {
  return [...new Set(texts)].sort().join(', ');
}

/** The envelope, and what comes in it. */
export const errorChecks: readonly Check[] = [
  everyError('ERR-01', 'every error of the run', (answer) => {
    const code = codeOf(answer);
    return code === undefined || code === '' ? 'which has no error.code' : undefined;
  }),
  everyError('ERR-02', 'every error of the run', (answer) => {
    if (errorOf(answer) === undefined) return undefined;
    const message = errorOf(answer)?.message;
    return typeof message === 'string' && message !== '' ? undefined : 'which has no error.message';
  }),
  everyError('ERR-03', 'every error of the run', (answer) => {
    const details = errorOf(answer)?.details;
    return details === undefined || Array.isArray(details)
      ? undefined
      : 'whose error.details is not an array';
  }),
  check('ERR-04', 'an event that is not valid', async (run) => {
    const answer = await invalidEvent(run);
    if (codeOf(answer) !== 'VALIDATION_ERROR') fail(`${told(answer)}; the code VALIDATION_ERROR is expected`);
  }),
  check('ERR-05', 'an event that is not valid', async (run) => {
    const answer = await invalidEvent(run);
    const details = errorOf(answer)?.details;
    if (!Array.isArray(details) || details.length === 0) fail(`${told(answer)}, which has no details`);
  }),
  check('ERR-06', 'an event that is not valid', async (run) => {
    const answer = await invalidEvent(run);
    if (answer.status >= 500 || takenStatuses.has(answer.status)) fail(told(answer));
  }),
  lastCheck('ERR-07', 'gateway errors of the run', async ({ probe }) => {
    const met = probe.answers.filter(isGatewayError);
    return met.length > 0
      ? `${met.length} times ${counted(met.map(({ status }) => String(status)))}`
      : 'none';
  }),
  lastCheck('ERR-08', 'codes of the run', async (run) => {
    const errors = await errorsOf(run);
    return counted(errors.map((answer) => `${codeOf(answer) ?? '(none)'} ${answer.status}`)) || 'none';
  }),
  safeCheck('END-21', 'a path below the base address', async ({ probe, settings }) => {
    const answer = await probe.call('sessions.list', { query: { limit: 1 } });
    const isMissing =
      [404, 405, 501].includes(answer.status) || (answer.status >= 300 && answer.status < 400);
    if (isMissing) fail(`${told(answer)}: there is no service below ${settings.baseURL}`);
  }),
  lastCheck('END-22', 'every answer of the run', async (run) => {
    await run.provocations.all();
    for (const answer of run.probe.answers) {
      if (answer.text === '' || isGatewayError(answer)) continue;
      const type = answer.headers.get('content-type') ?? '';
      if (!/^application\/json\s*(;|$)/i.test(type)) fail(`${told(answer)}, with the content type "${type}"`);
      if (answer.json === undefined) fail(`${told(answer)}, which is not JSON`);
    }
  }),
  lastCheck('END-23', 'statuses of success', async ({ probe }) => {
    const met = probe.answers.filter(({ status, method }) => status < 300 && method !== 'GET');
    return counted(met.map(({ method, status }) => `${method} ${status}`));
  }),
];
