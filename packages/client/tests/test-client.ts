import { Actlog, type ClientOptions, type Fetch } from '@actlog/client';
import { attemptLimitMs, TestClock } from './test-clock.ts';

/** API key of the tests; no error, log line or file may ever show it. */
export const testKey = 'al_test_0123456789secret';

/** Creates a client for a test server, with a stopped clock. */
export function testClient(
  origin: string,
  options: ClientOptions = {},
): { client: Actlog; clock: TestClock } {
  const clock = (options.clock as TestClock | undefined) ?? new TestClock();
  const client = new Actlog({
    apiKey: testKey,
    baseURL: origin,
    timeoutMs: attemptLimitMs,
    clock,
    logLevel: 'off',
    ...options,
  });
  return { client, clock };
}

/** Both transports: the client must behave the same over each. */
export const transports: [name: string, options: ClientOptions][] = [
  ['undici', {}],
  ['fetch', { fetch: (url, init) => fetch(url, init) }],
];

/** A `fetch` that ignores its signal. */
export const signalIgnoringFetch: Fetch = (url, { signal: _signal, ...init }) => fetch(url, init);

/** Returns the rejection of a promise; throws if it is fulfilled. */
export async function rejection(promise: PromiseLike<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('expected the promise to be rejected');
}
