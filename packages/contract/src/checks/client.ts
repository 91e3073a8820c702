import { Actlog, type ClientOptions, type Clock } from '@actlog/client';
import { endpoints, headers } from '@actlog/protocol';
import { type Check, safeCheck } from '../check.ts';
import { isRetried, repeated } from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

/** Time limit of an attempt; its length distinguishes it from retry delays. */
const tryLimitMs = 1_000_000;

/** Observed behavior of the official client. */
interface Seen {
  /** Headers of each attempt. */
  readonly tries: Headers[];
  /** Delays before retries, in milliseconds. */
  readonly waitsMs: number[];
  /** `true` if the call succeeded. */
  readonly isDone: boolean;
}

/**
 * Reads one page with the official client, whatever its shape. `faults` are returned for its first attempts; the next one goes to the
 * deployment. Delays are recorded but not waited for.
 */
async function observe(run: Run, faults: readonly Response[], options: ClientOptions = {}): Promise<Seen> {
  const { baseURL, apiKey } = run.settings;
  let isBusy = false;
  const tries: Headers[] = [];
  const waitsMs: number[] = [];
  const left = [...faults];
  const clock: Clock = {
    now: () => performance.now(),
    wallClock: () => Date.now(),
    random: () => 0.5,
    setTimeout: (callback, delayMs) => {
      const isWait = delayMs < tryLimitMs / 2; // part of a time limit may have passed
      if (isWait) waitsMs.push(delayMs);
      return setTimeout(callback, isWait ? 0 : tryLimitMs);
    },
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
  const client = makeClient({
    apiKey,
    baseURL,
    clock,
    timeoutMs: tryLimitMs,
    allowInsecureHttp: true, // checked by the settings of the run
    logLevel: 'off',
    fetch: async (url, init) => {
      tries.push(new Headers(init.headers));
      // The deployment may be busy or limit the rate meanwhile; the client must see only the injected faults.
      const injected = left.shift();
      if (injected) return injected;
      const response = await repeated(run.settings, () => sendWhole(run, url, init));
      isBusy = isRetried(response.status);
      return response;
    },
    ...options,
  });
  const isDone = await client.request('GET', endpoints['sessions.list'].path, { query: { limit: 1 } }).then(
    () => true,
    () => false,
  );
  if (isBusy) skip('the deployment limits the rate, or is unavailable, for longer than the run waits');
  return { tries, waitsMs, isDone };
}

/** Sends a request and reads its response within the time limit of the run. */
async function sendWhole(
  { settings }: Run,
  url: Parameters<typeof fetch>[0],
  init: RequestInit,
): Promise<Response> {
  const signals = [init.signal, settings.signal, AbortSignal.timeout(settings.timeoutMs)];
  const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
  const response = await settings.fetch(url, { ...init, signal });
  const body = await response.arrayBuffer();
  return new Response(body.byteLength > 0 ? body : null, response);
}

function makeClient(options: ClientOptions): Actlog {
  try {
    return new Actlog(options);
  } catch (error) {
    return skip(`the official client rejects these settings: ${(error as Error).message}`);
  }
}

function fault(status: number, headersOfFault: Record<string, string> = {}): Response {
  return new Response('', { status, headers: headersOfFault });
}

/** Checks of the official client against this deployment. */
export const clientChecks: readonly Check[] = [
  safeCheck('AUT-08', 'headers of the client', async (run) => {
    const { tries } = await observe(run, [], { framework: 'contract-framework', agentVersion: '1.2.3' });
    const [sent] = tries;
    if (!/^\S+\/\d+\.\d+\.\d+/.test(sent?.get(headers.sdk) ?? ''))
      fail('x-service-sdk does not name a client and its version');
    if (sent?.get(headers.framework) !== 'contract-framework') fail('x-service-framework is not sent');
    if (sent.get(headers.agentVersion) !== '1.2.3') fail('x-service-agent-version is not sent');
  }),
  safeCheck('ERR-09', 'a 429 with Retry-After', async (run) => {
    const { tries, waitsMs, isDone } = await observe(run, [fault(429, { 'retry-after': '7' })]);
    if (!isDone || tries.length !== 2) fail('the call is not retried, or the deployment does not respond');
    if ((waitsMs[0] ?? 0) < 7000) fail(`it waits ${waitsMs[0]} ms although Retry-After says 7,000`);
  }),
  ...[502, 503, 504].map((status) =>
    safeCheck('ERR-10', `${status} three times`, async (run) => {
      const { tries, waitsMs, isDone } = await observe(run, [fault(status), fault(status), fault(status)]);
      if (!isDone || tries.length !== 4) fail('the call is not retried, or the deployment does not respond');
      const grows = waitsMs.every(
        (waitMs, index) => index === 0 || waitMs >= 1.5 * (waitsMs[index - 1] as number),
      );
      if (!grows) fail(`the delays do not grow exponentially: ${waitsMs.join(', ')} ms`);
    }),
  ),
  safeCheck('LIM-03', 'at most three retries', async (run) => {
    const { tries, isDone } = await observe(
      run,
      Array.from({ length: 10 }, () => fault(503)),
    );
    if (isDone || tries.length !== 4) fail(`a call that always fails was sent ${tries.length} times, not 4`);
  }),
];
