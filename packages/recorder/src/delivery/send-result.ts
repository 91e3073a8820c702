/** Result of sending one event. */
export interface SendResult {
  /** HTTP status; undefined if no response arrived. */
  readonly status?: number | undefined;
  /** Value of the `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /** Start of the response body, unless the status is 202. */
  readonly body?: string | undefined;
  /** Error that prevented a response. */
  readonly error?: Error | undefined;
}

/** Sends events. Every call of `send` leads to exactly one call of `done`. */
export interface Transport {
  /** Sends a body with the headers of its origin. Never throws. */
  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void;
  /**
   * Aborts all requests in flight, each of which ends with an error, and closes the transport's own connections. No
   * calls may follow.
   */
  abort(): void;
}

/** Maximum number of bytes read of an error response; its code and message are at the start. */
export const maxErrorBodyBytes = 16 * 1024;
