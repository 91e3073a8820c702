/** Delay before a stream is resumed for a server that asks for none, in milliseconds. */
const defaultRetryMs = 1000;

/** Minimum delay before a stream is resumed, so that a server that ends each stream is not flooded, in milliseconds. */
const minRetryMs = 100;

/** Maximum delay before a stream is resumed: that of a timer, in milliseconds. */
const maxRetryMs = 2 ** 31 - 1;

/** Point at which a stream of events ended. */
export interface StreamEnd {
  /** Id of its last event; undefined if it cannot be resumed. */
  readonly lastId?: string | undefined;
  /** Delay that the server asks for before the stream is resumed, in milliseconds. */
  readonly retryMs?: number | undefined;
}

/** Returns the later of two points: what its part of the stream does not name is still that of the earlier. */
export function laterEnd(before: StreamEnd, after: StreamEnd): StreamEnd {
  return { lastId: after.lastId ?? before.lastId, retryMs: after.retryMs ?? before.retryMs };
}

/**
 * Returns the delay before a stream is resumed, in milliseconds, which clients must respect (Model Context Protocol,
 * "Streamable HTTP"; SEP-1699). Default 1000, minimum 100.
 */
export function resumeDelayMs({ retryMs = defaultRetryMs }: StreamEnd): number {
  return Math.min(Math.max(retryMs, minRetryMs), maxRetryMs);
}
