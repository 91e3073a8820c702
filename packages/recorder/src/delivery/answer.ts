/** What came of sending one event. */
export interface Answer {
  /** HTTP status; undefined when none arrived. */
  readonly status?: number | undefined;
  /** `Retry-After`, as it came. */
  readonly retryAfter?: string | undefined;
  /** The beginning of the body of an answer other than 202. */
  readonly body?: string | undefined;
  /** Why no status arrived. */
  readonly error?: Error | undefined;
}

/** Sends events. Every call of `send` ends in exactly one call of `done`. */
export interface Transport {
  /** Sends a body with the headers of its origin. It never throws. */
  send(body: string, headers: Readonly<Record<string, string>>, done: (answer: Answer) => void): void;
  /** Gives up what is in flight, each of which ends with an error, and the connections that are its own. The last call. */
  abort(): void;
}

/** Most bytes of a refusal that are read; its code and message stand at the front. */
export const maxAnswerBytes = 16 * 1024;
