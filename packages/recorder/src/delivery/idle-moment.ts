import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { detached } from '../lib/detached.ts';
import { timers } from '../lib/timers.ts';

/**
 * Interval of the checks in milliseconds, and thereby the minimum wait. Events recorded meanwhile are sent together.
 */
const lookEveryMs = 50;
/** Maximum wait in milliseconds. */
const longestMs = 500;
/** Event loop utilization above which the process counts as busy. */
const busyShare = 0.5;

/**
 * Waits for the next moment in which the event loop is idle, for example while the agent waits for its model. Sending
 * then slows down no call, and requests sent together share system calls. If the process is never idle, the wait ends
 * after half a second.
 */
export class IdleMoment {
  readonly #onCome: () => void;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #before: EventLoopUtilization | undefined;
  readonly #lookLater = () => timers.setTimeout(this.#look, lookEveryMs).unref();
  readonly #look = () => {
    this.#looks += 1;
    // Some runtimes return undefined or 0.
    const { utilization } = performance.eventLoopUtilization?.(this.#before) ?? { utilization: 0 };
    if (utilization > busyShare && this.#looks * lookEveryMs < longestMs) this.#wait();
    else {
      this.#timer = undefined;
      this.#onCome();
    }
  };

  constructor(onCome: () => void) {
    this.#onCome = onCome;
  }

  /** `true` while waiting. */
  get isAwaited(): boolean {
    return this.#timer !== undefined;
  }

  /** Starts waiting, unless already waiting. */
  await(): void {
    if (this.#timer) return;
    this.#looks = 0;
    this.#wait();
  }

  /** Stops waiting. */
  cancel(): void {
    timers.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    this.#before = performance.eventLoopUtilization?.();
    this.#timer = detached(this.#lookLater);
  }
}
