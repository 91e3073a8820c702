/** First delay after a failure, in milliseconds; doubles with each consecutive failure. */
const initialDelayMs = 100;
const maxDelayMs = 30_000;
/** Maximum `Retry-After` that is followed, in milliseconds: a wrong date must not stop deliveries for days. */
export const maxRetryAfterMs = 15 * 60_000;

/** Dependencies of a {@link Pace}. */
export interface PaceOptions {
  /** Maximum number of events in flight. */
  readonly maxConcurrency: number;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
}

/**
 * Limits the number of events in flight. A `Retry-After` pauses everything. A failure pauses everything, then allows a
 * single probe. Concurrency halves when the service throttles, and grows back with every accepted event.
 */
export class Pace {
  readonly #options: PaceOptions;
  #limit: number;
  #failures = 0;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  /** `true` if the service specified the delay. */
  #isDelaySpecified = false;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#limit = options.maxConcurrency;
  }

  /** `true` if the last attempt failed: the circuit is open, and only a probe may pass. */
  get isOpen(): boolean {
    return this.#failures > 0;
  }

  /** Number of consecutive failures; those in flight together count once. */
  get failuresInARow(): number {
    return this.#failures;
  }

  /** Milliseconds until sending may resume; 0 if it may now. */
  get quietForMs(): number {
    if (this.#quietUntilMs === Number.NEGATIVE_INFINITY) return 0;
    return Math.max(0, this.#quietUntilMs - this.#options.now());
  }

  /** Returns `true` if another event may be sent with `inFlight` events in flight. */
  allows(inFlight: number): boolean {
    if (inFlight >= (this.isOpen ? 1 : Math.floor(this.#limit))) return false;
    return this.quietForMs === 0;
  }

  /** Notes that the service accepted an event. */
  succeeded(): void {
    this.#failures = 0;
    if (this.quietForMs === 0) this.#quietUntilMs = Number.NEGATIVE_INFINITY;
    if (this.#limit < this.#options.maxConcurrency) {
      this.#limit = Math.min(this.#options.maxConcurrency, this.#limit + 1 / this.#limit);
    }
  }

  /** Notes that the service throttles. */
  throttled(retryAfterMs: number | undefined): void {
    // Requests that were in flight together count as one signal.
    if (this.quietForMs === 0) this.#limit = Math.max(1, this.#limit / 2);
    this.#pause(retryAfterMs);
  }

  /** Notes that nothing gets through. */
  failed(retryAfterMs?: number): void {
    this.#pause(retryAfterMs);
  }

  /** Allows the next probe now, unless the service specified the delay. */
  hurry(): void {
    if (!this.#isDelaySpecified) this.#quietUntilMs = Number.NEGATIVE_INFINITY;
  }

  #pause(retryAfterMs = 0): void {
    // If `Retry-After` is 0 or in the past, still pause.
    const isDelaySpecified = retryAfterMs > 0;
    const isFirst = this.quietForMs === 0;
    if (!isFirst && !isDelaySpecified) return;
    const delayMs = isDelaySpecified ? Math.min(retryAfterMs, maxRetryAfterMs) : this.#backoffMs();
    this.#isDelaySpecified = isDelaySpecified;
    if (isFirst) this.#failures += 1;
    this.#quietUntilMs = Math.max(this.#quietUntilMs, this.#options.now() + delayMs);
  }

  /** Exponential, half of it random, so that many agents do not retry in step. */
  #backoffMs(): number {
    const fullMs = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(this.#failures, 20));
    return fullMs * (0.5 + this.#options.random() / 2);
  }
}
