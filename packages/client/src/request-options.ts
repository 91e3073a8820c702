import type { QueryValue } from './query-string.ts';
import type { HeaderOverrides } from './request-headers.ts';

/** Options of one call. They win over the client's. */
export interface RequestOptions {
  /**
   * Ends the call, also while it waits for a retry or a hook, and a loop over a list before its next item, with an
   * `APIAbortError`.
   */
  readonly signal?: AbortSignal | undefined;
  /** Longest time of one try, its body included, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** How many times the call is repeated when it fails. */
  readonly maxRetries?: number | undefined;
  /** Longest `Retry-After` to wait for, in milliseconds. */
  readonly maxRetryAfterMs?: number | undefined;
  /** Longest time of the whole call, with all tries, waits and hooks, in milliseconds. */
  readonly deadlineMs?: number | undefined;
  /** Most bytes of the answer. */
  readonly maxResponseBytes?: number | undefined;
  /** Headers of this call. `null` takes one away that the client would send. */
  readonly headers?: HeaderOverrides | undefined;
  /**
   * Sent as `Idempotency-Key`, the same through all tries. Giving one says that repeating the call is safe, so it is
   * then also repeated when the connection breaks half way. Without it, calls that honour the header get a random
   * one, which makes the service's own retry answers safe.
   */
  readonly idempotencyKey?: string | undefined;
  /** Query parameters that this package does not know of. */
  readonly extraQuery?: Readonly<Record<string, QueryValue>> | undefined;
  /** Fields of the body that this package does not know of. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /** Whether to ask for the next page while the items of the present one are used. Default false. */
  readonly prefetch?: boolean | undefined;
}
