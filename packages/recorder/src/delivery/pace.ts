/** The first wait after a failure; each further one in a row doubles it. */
const firstDelayMs = 100;
const longestDelayMs = 30_000;
/** A `Retry-After` beyond this is asked about again earlier: a mistaken date must not silence an agent for days. */
export const longestRetryAfterMs = 15 * 60_000;

/** What {@link Pace} needs from the world. */
export interface PaceOptions {
  /** Most events in flight at once. */
  readonly maxConcurrency: number;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  /** 0 to 1. */
  readonly random: () => number;
}

/**
 * How many events may be in flight now. One `Retry-After` quiets everything; after a failure everything waits, and
 * then a single probe goes first; concurrency halves when the service asks for a slower pace and grows back with
 * every event that it takes.
 */
export class Pace {
  readonly #options: PaceOptions;
  #limit: number;
  #failures = 0;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether the service named the time to wait. */
  #isTold = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#limit = options.maxConcurrency;
  }

  /** Whether the last try failed: the circuit is open, and only a probe may pass. */
  get isOpen(): boolean {
    return this.#failures > 0;
  }

  /** How many tries failed one after another, those in flight together counted once. */
  get failuresInARow(): number {
    return this.#failures;
  }

  /** Milliseconds until something may be sent again; 0 when it may now. */
  get quietForMs(): number {
    if (this.#quietUntilMs === Number.NEGATIVE_INFINITY) return 0;
    return Math.max(0, this.#quietUntilMs - this.#options.now());
  }

  /** Whether one more may be sent while `inFlight` are on their way. */
  allows(inFlight: number): boolean {
    if (inFlight >= (this.isOpen ? 1 : Math.floor(this.#limit))) return false;
    return this.quietForMs === 0;
  }

  /** The service took an event. */
  succeeded(): void {
    this.#failures = 0;
    if (this.quietForMs === 0) this.#quietUntilMs = Number.NEGATIVE_INFINITY;
    if (this.#limit < this.#options.maxConcurrency) {
      this.#limit = Math.min(this.#options.maxConcurrency, this.#limit + 1 / this.#limit);
    }
  }

  /** The service asks for a slower pace. */
  throttled(retryAfterMs: number | undefined): void {
    // Requests that were in flight together bring one message, not one each.
    if (this.quietForMs === 0) this.#limit = Math.max(1, this.#limit / 2);
    this.#pause(retryAfterMs);
  }

  /** Nothing gets through. */
  failed(retryAfterMs?: number): void {
    this.#pause(retryAfterMs);
  }

  /** Lets the next probe go now, unless the service named the time to wait. */
  hurry(): void {
    if (!this.#isTold) this.#quietUntilMs = Number.NEGATIVE_INFINITY;
  }

  #pause(retryAfterMs = 0): void {
    // A service that names no time to come, such as 0 or a date that has passed, must not be asked without a pause.
    const isTold = retryAfterMs > 0;
    const isFirst = this.quietForMs === 0;
    if (!isFirst && !isTold) return;
    const delayMs = isTold ? Math.min(retryAfterMs, longestRetryAfterMs) : this.#backoffMs();
    this.#isTold = isTold;
    if (isFirst) this.#failures += 1;
    this.#quietUntilMs = Math.max(this.#quietUntilMs, this.#options.now() + delayMs);
  }

  /** Exponential, with half of it at random, so that many agents do not come back in step. */
  #backoffMs(): number {
    const fullMs = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(this.#failures, 20));
    return fullMs * (0.5 + this.#options.random() / 2);
  }
}
