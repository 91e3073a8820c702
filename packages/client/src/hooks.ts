import type { ActlogError } from './errors/actlog-error.ts';

/** A request that is about to be sent. */
export interface OutgoingRequest {
  readonly method: string;
  /** The whole address, with its query. */
  readonly url: string;
  /** What will be sent, the API key among it; a hook may add, change and delete. Never log it. */
  readonly headers: Record<string, string>;
  /** Which try it is, from 1. */
  readonly attempt: number;
}

/** An answer that came in whole. */
export interface IncomingResponse {
  readonly method: string;
  /** Path of the request, without its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  readonly attempt: number;
  /** From sending to the last byte of the body. */
  readonly durationMs: number;
}

/** A retry that is about to wait. */
export interface PlannedRetry {
  /** Why. */
  readonly error: ActlogError;
  /** Which try failed, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
}

/**
 * Functions that look at every try. One that throws, or whose promise is rejected, ends the call with just what it
 * threw. The call's `signal` and `deadlineMs` end it also while it waits for one.
 */
export interface Hooks {
  /** Before every try. */
  readonly beforeRequest?: ((request: OutgoingRequest) => void | Promise<void>) | undefined;
  /** After every answer, also an error answer; not after a broken connection. */
  readonly afterResponse?: ((response: IncomingResponse) => void | Promise<void>) | undefined;
  /** Before the wait that precedes a retry. */
  readonly onRetry?: ((retry: PlannedRetry) => void | Promise<void>) | undefined;
}
