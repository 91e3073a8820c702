import type { Clock, TimerHandle } from '@actlog/client';

/** The time limit that test clients give to a try; longer than any wait, so that the clock knows them apart. */
export const tryLimitMs = 1_000_000;

/**
 * A clock that stands still. A wait before a retry ends at once, is written down, and moves the clock; the time limit
 * of a try only ends when the test says so.
 */
export class TestClock implements Clock {
  /** The waits before retries, in milliseconds. */
  readonly waits: number[] = [];
  /** The time limits of tries, in milliseconds. */
  readonly limits: number[] = [];
  /** What `random` gives. */
  chance = 0.5;
  /** What the machine believes the time is. */
  wallMs = Date.UTC(2026, 0, 1);
  #nowMs = 0;
  readonly #held = new Map<number, () => void>();
  #timers = 0;
  #onHeld: (() => void) | undefined;
  #holdsWaits = false;

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
    const isWait = delayMs < tryLimitMs;
    (isWait ? this.waits : this.limits).push(delayMs);
    if (isWait && !this.#holdsWaits) {
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

  /** From now on a wait ends when the test says so. */
  holdsWaits(): void {
    this.#holdsWaits = true;
  }

  /** How many timers are running. */
  get running(): number {
    return this.#held.size;
  }

  /** Settled when a further timer runs: the time limit of a try, or a wait that is held. */
  timerStarted(): Promise<void> {
    return new Promise((resolve) => {
      this.#onHeld = resolve;
    });
  }

  /** Moves the clock, and lets every timer run on. */
  pass(byMs: number): void {
    this.#nowMs += byMs;
  }

  /** Moves the clock, and ends every timer that runs. */
  expire(byMs: number): void {
    this.#nowMs += byMs;
    const callbacks = [...this.#held.values()];
    this.#held.clear();
    for (const callback of callbacks) callback();
  }
}
