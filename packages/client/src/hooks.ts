import type { ActlogError } from './errors/actlog-error.ts';

/** A request about to be sent. */
export interface OutgoingRequest {
  readonly method: string;
  /** Full URL, with its query. */
  readonly url: string;
  /** Headers to be sent, including the API key. A hook may add, change and delete headers. Never log them. */
  readonly headers: Record<string, string>;
  /** Attempt number, from 1. */
  readonly attempt: number;
}

/** A complete response. */
export interface IncomingResponse {
  readonly method: string;
  /** Path of the request, without its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  readonly attempt: number;
  /** Time from sending the request to the last byte of the body, in milliseconds. */
  readonly durationMs: number;
}

/** A retry about to be delayed. */
export interface PlannedRetry {
  /** Error that caused the retry. */
  readonly error: ActlogError;
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
}

/**
 * Functions called on every attempt. An error thrown by a hook, or the rejection of its promise, ends the call with
 * exactly that error. The `signal` and `deadlineMs` of the call also apply while it waits for a hook.
 */
export interface Hooks {
  /** Called before every attempt. */
  readonly beforeRequest?: ((request: OutgoingRequest) => void | Promise<void>) | undefined;
  /** Called after every response, including error responses; not called after a broken connection. */
  readonly afterResponse?: ((response: IncomingResponse) => void | Promise<void>) | undefined;
  /** Called before the delay of a retry. */
  readonly onRetry?: ((retry: PlannedRetry) => void | Promise<void>) | undefined;
}
