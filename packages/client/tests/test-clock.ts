import type { Clock, TimerHandle } from '@actlog/client';

/** Time limit of an attempt in tests; longer than any delay, so that the clock can tell them apart. */
export const attemptLimitMs = 1_000_000;

/**
 * A stopped clock. A delay before a retry ends at once, is recorded and moves the clock; the time limit of an attempt
 * ends only when the test says so.
 */
export class TestClock implements Clock {
  /** Delays before retries, in milliseconds. */
  readonly delays: number[] = [];
  /** Time limits of attempts, in milliseconds. */
  readonly limits: number[] = [];
  /** Result of `random`. */
  chance = 0.5;
  /** Current Unix time in milliseconds. */
  wallMs = Date.UTC(2026, 0, 1);
  #nowMs = 0;
  readonly #held = new Map<number, () => void>();
  #timers = 0;
  #onHeld: (() => void) | undefined;
  #holdsDelays = false;

  now(): number {
    return this.#nowMs;
  }

  wallClock(): number {
    return this.wallMs;
  }

  random(): number {
    return this.chance;
  }

  setTimeout(callback: () => void, delayMs: number): TimerHandle {
    this.#timers += 1;
    const timer = this.#timers;
    const isDelay = delayMs < attemptLimitMs;
    (isDelay ? this.delays : this.limits).push(delayMs);
    if (isDelay && !this.#holdsDelays) {
      this.#nowMs += delayMs;
      queueMicrotask(callback);
    } else {
      this.#held.set(timer, callback);
      this.#onHeld?.();
    }
    return timer;
  }

  clearTimeout(timer: TimerHandle): void {
    this.#held.delete(timer as number);
  }

  /** Makes delays end only when the test says so. */
  holdDelays(): void {
    this.#holdsDelays = true;
  }

  /** Number of running timers. */
  get running(): number {
    return this.#held.size;
  }

  /** Resolves when another timer starts: the time limit of an attempt, or a held delay. */
  timerStarted(): Promise<void> {
    return new Promise((resolve) => {
      this.#onHeld = resolve;
    });
  }

  /** Moves the clock without firing timers. */
  pass(byMs: number): void {
    this.#nowMs += byMs;
  }

  /** Moves the clock and fires all running timers. */
  expire(byMs: number): void {
    this.#nowMs += byMs;
    const callbacks = [...this.#held.values()];
    this.#held.clear();
    for (const callback of callbacks) callback();
  }
}
