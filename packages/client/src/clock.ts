/** A timer that was started, as the platform names it. */
export type TimerHandle = unknown;

/**
 * Where the client takes time and chance from. Replace it in tests, so that a retry waits no real time and draws a
 * known number.
 */
export interface Clock {
  /** Milliseconds on a clock that only moves forward; its zero means nothing. */
  now(): number;
  /** Milliseconds since the epoch, as the machine believes. */
  wallClock(): number;
  /** Calls back once after `delayMs`. */
  setTimeout(callback: () => void, delayMs: number): TimerHandle;
  /** Stops a timer that has not fired. */
  clearTimeout(timer: TimerHandle): void;
  /** A number from 0 up to, not including, 1. */
  random(): number;
}

/** The clock of the platform. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  random: () => Math.random(),
};

/** The longest wait that a timer can hold: beyond it, `setTimeout` fires at once. */
export const longestTimerMs = 2 ** 31 - 1;
