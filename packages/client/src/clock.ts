/** Handle of a started timer; its type depends on the platform. */
export type TimerHandle = unknown;

/** Source of time and random numbers. Replace it in tests, so that retries are instant and their delays known. */
export interface Clock {
  /** Returns the milliseconds of a monotonic clock with an arbitrary origin. */
  now(): number;
  /** Returns the current Unix time in milliseconds. */
  wallClock(): number;
  /** Calls back once after `delayMs`. */
  setTimeout(callback: () => void, delayMs: number): TimerHandle;
  /** Cancels a timer that has not fired. */
  clearTimeout(timer: TimerHandle): void;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

/** The platform's clock and random numbers. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  random: () => Math.random(),
};

/** Longest delay of a timer. With a longer one, `setTimeout` fires at once. */
export const longestTimerMs = 2 ** 31 - 1;
