import { parseRetryAfter } from '@actlog/client';
import { headers as names } from '@actlog/protocol';
import type { Settings } from '../contract-options.ts';

/** Maximum number of retries after 429, 502, 503 or 504. */
const maxRepeats = 5;

/** Statuses after which the specification tells clients to retry ("Errors", retry guidance). */
const retried = new Set([429, 502, 503, 504]);

/** `true` if the specification tells clients to retry a request that received this status. */
export function isRetried(status: number): boolean {
  return retried.has(status);
}

/**
 * Sends a request until its response is neither 429, 502, 503 nor 504, five times more at most. Waits for the time in
 * `Retry-After`, unless it is longer than the run allows, or with exponential backoff and jitter.
 */
export async function repeated<Received extends { readonly status: number; readonly headers: Headers }>(
  { maxRetryAfterMs, clock, signal }: Pick<Settings, 'maxRetryAfterMs' | 'clock' | 'signal'>,
  send: () => Promise<Received>,
): Promise<Received> {
  for (let repeat = 0; ; repeat += 1) {
    const response = await send();
    if (!isRetried(response.status) || repeat >= maxRepeats) return response;
    const asked = parseRetryAfter(response.headers.get(names.retryAfter), Date.now());
    const delayMs = asked ?? Math.random() * 200 * 2 ** repeat;
    if (delayMs > maxRetryAfterMs) return response;
    await clock.sleep(delayMs, signal);
  }
}
