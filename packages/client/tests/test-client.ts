import { Actlog, type ActlogOptions, type Fetch } from '@actlog/client';
import { TestClock, tryLimitMs } from './test-clock.ts';

/** The key that tests use; no error, log line or file may ever show it. */
export const testKey = 'al_test_0123456789secret';

/** A client against a test server, with a clock that stands still. */
export function testClient(
  origin: string,
  options: ActlogOptions = {},
): { client: Actlog; clock: TestClock } {
  const clock = (options.clock as TestClock | undefined) ?? new TestClock();
  const client = new Actlog({
    apiKey: testKey,
    baseURL: origin,
    timeoutMs: tryLimitMs,
    clock,
    logLevel: 'off',
    ...options,
  });
  return { client, clock };
}

/** Both ways of sending: every promise of the client holds over either. */
export const transports: [name: string, options: ActlogOptions][] = [
  ['undici', {}],
  ['fetch', { fetch: (url, init) => fetch(url, init) }],
];

/** A `fetch` that ignores its signal. */
export const deafFetch: Fetch = (url, { signal: _signal, ...init }) => fetch(url, init);

/** What a promise was rejected with; fails when it was fulfilled. */
export async function rejection(promise: PromiseLike<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('it was expected to fail');
}
