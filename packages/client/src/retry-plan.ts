import { backoffMs } from './backoff.ts';
import { APIConnectionError } from './errors/api-connection-error.ts';
import { APIError } from './errors/api-error.ts';

/** What decides whether and when a failed try is repeated. */
export interface RetryRules {
  /** Whether sending the request twice is the same as sending it once. */
  readonly repeatable: boolean;
  /** Longest `Retry-After` to wait for, in milliseconds. */
  readonly maxRetryAfterMs: number;
}

/** The answers after which the specification asks for another try ("Retry guidance for clients"). */
const repeatedStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * How long to wait before trying again, in milliseconds; undefined when the failure is final.
 *
 * An answer is repeated by its status alone, as the specification says. A failed connection is repeated always when
 * the request surely did not leave, and otherwise only when repeating is harmless. `Retry-After` is waited for to
 * the millisecond; one that is longer than allowed ends the call, because coming back earlier than asked would only
 * be refused again.
 *
 * @param retry 1 for the first retry.
 * @param random From 0 up to, not including, 1.
 */
export function retryDelayMs(
  error: unknown,
  rules: RetryRules,
  retry: number,
  random: number,
): number | undefined {
  if (error instanceof APIError) {
    if (!repeatedStatuses.has(error.status)) return undefined;
    const { retryAfterMs } = error;
    if (retryAfterMs === undefined) return backoffMs(retry, random);
    return retryAfterMs > rules.maxRetryAfterMs ? undefined : retryAfterMs;
  }
  if (!(error instanceof APIConnectionError) || error.code === 'TLS_FAILED') return undefined;
  return !error.maybeSent || rules.repeatable ? backoffMs(retry, random) : undefined;
}
