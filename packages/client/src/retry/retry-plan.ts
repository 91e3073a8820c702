import { APIConnectionError } from '../errors/api-connection-error.ts';
import { APIError } from '../errors/api-error.ts';
import { backoffMs } from './backoff.ts';

/** Inputs of the retry decision. */
export interface RetryRules {
  /** `true` if sending the request twice has the same effect as sending it once. */
  readonly repeatable: boolean;
  /** Longest `Retry-After` to wait for, in milliseconds. */
  readonly maxRetryAfterMs: number;
}

/** Statuses that the specification says to retry ("Retry guidance for clients"). */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Returns the delay before the next attempt in milliseconds, or undefined if the failure is final.
 *
 * A response is retried by its status alone, as the specification says. A failed connection is retried if the request
 * certainly was not sent, or if repeating it is harmless. `Retry-After` is followed to the millisecond; if it exceeds
 * the limit, the call fails at once, because an earlier retry would only be rejected again.
 *
 * @param retry 1 for the first retry.
 * @param random Number from 0 (inclusive) to 1 (exclusive).
 */
export function retryDelayMs(
  error: unknown,
  rules: RetryRules,
  retry: number,
  random: number,
): number | undefined {
  if (error instanceof APIError) {
    if (!retryableStatuses.has(error.status)) return undefined;
    const { retryAfterMs } = error;
    if (retryAfterMs === undefined) return backoffMs(retry, random);
    return retryAfterMs > rules.maxRetryAfterMs ? undefined : retryAfterMs;
  }
  if (!(error instanceof APIConnectionError) || error.code === 'TLS_FAILED') return undefined;
  return !error.maybeSent || rules.repeatable ? backoffMs(retry, random) : undefined;
}
