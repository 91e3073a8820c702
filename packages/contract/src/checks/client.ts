import { Actlog, type ActlogOptions, type Clock } from '@actlog/client';
import { headers } from '@actlog/protocol';
import { type Check, safeCheck } from '../check.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

/** Time limit of a try, by its length told apart from the waits before a repetition. */
const tryLimitMs = 1_000_000;

/** What the official client was seen to do. */
interface Seen {
  /** Headers of each try. */
  readonly tries: Headers[];
  /** Waits before repetitions, in milliseconds. */
  readonly waitsMs: number[];
  /** Whether the call came to a result. */
  readonly isDone: boolean;
}

/**
 * Reads one page with the official client. Its first tries are answered here, with `faults`; the next one by the
 * deployment. Waits are written down and not waited.
 */
async function observe(run: Run, faults: readonly Response[], options: ActlogOptions = {}): Promise<Seen> {
  const { baseURL, apiKey, fetch: send } = run.settings;
  const tries: Headers[] = [];
  const waitsMs: number[] = [];
  const left = [...faults];
  const clock: Clock = {
    now: () => performance.now(),
    wallClock: () => Date.now(),
    random: () => 0.5,
    setTimeout: (callback, delayMs) => {
      const isWait = delayMs < tryLimitMs / 2; // of a limit, some time may have passed
      if (isWait) waitsMs.push(delayMs);
      return setTimeout(callback, isWait ? 0 : run.settings.timeoutMs);
    },
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
  const client = makeClient({
    apiKey,
    baseURL,
    clock,
    timeoutMs: tryLimitMs,
    allowInsecureHttp: true, // the settings of the run have decided that
    logLevel: 'off',
    fetch: async (url, init) => {
      tries.push(new Headers(init.headers));
      return left.shift() ?? send(url, init);
    },
    ...options,
  });
  const isDone = await client.sessions.list({ limit: 1 }).then(
    () => true,
    () => false,
  );
  return { tries, waitsMs, isDone };
}

function makeClient(options: ActlogOptions): Actlog {
  try {
    return new Actlog(options);
  } catch (error) {
    return skip(`the official client does not take these settings: ${(error as Error).message}`);
  }
}

function fault(status: number, headersOfFault: Record<string, string> = {}): Response {
  return new Response('', { status, headers: headersOfFault });
}

/** What the specification says of the official clients, looked at with this deployment behind them. */
export const clientChecks: readonly Check[] = [
  safeCheck('AUT-08', 'headers of the client', async (run) => {
    const { tries } = await observe(run, [], { framework: 'contract-framework', agentVersion: '1.2.3' });
    const [sent] = tries;
    if (!/^\S+\/\d+\.\d+\.\d+/.test(sent?.get(headers.sdk) ?? ''))
      fail('x-service-sdk names no client and version');
    if (sent?.get(headers.framework) !== 'contract-framework') fail('x-service-framework is not sent');
    if (sent.get(headers.agentVersion) !== '1.2.3') fail('x-service-agent-version is not sent');
  }),
  safeCheck('ERR-09', 'a 429 with Retry-After', async (run) => {
    const { tries, waitsMs, isDone } = await observe(run, [fault(429, { 'retry-after': '7' })]);
    if (!isDone || tries.length !== 2) fail('the call is not repeated, or the deployment does not answer it');
    if ((waitsMs[0] ?? 0) < 7000) fail(`it waits ${waitsMs[0]} ms where Retry-After asks for 7,000`);
  }),
  ...[502, 503, 504].map((status) =>
    safeCheck('ERR-10', `${status} three times`, async (run) => {
      const { tries, waitsMs, isDone } = await observe(run, [fault(status), fault(status), fault(status)]);
      if (!isDone || tries.length !== 4)
        fail('the call is not repeated, or the deployment does not answer it');
      const grows = waitsMs.every(
        (waitMs, index) => index === 0 || waitMs >= 1.5 * (waitsMs[index - 1] as number),
      );
      if (!grows) fail(`the delays do not grow exponentially: ${waitsMs.join(', ')} ms`);
    }),
  ),
  safeCheck('LIM-03', 'three repetitions and no more', async (run) => {
    const { tries, isDone } = await observe(
      run,
      Array.from({ length: 10 }, () => fault(503)),
    );
    if (isDone || tries.length !== 4) fail(`a call that always fails was sent ${tries.length} times, not 4`);
  }),
];
