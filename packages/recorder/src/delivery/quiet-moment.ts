import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { detached } from '../detached.ts';
import { timers } from '../timers.ts';

/** How often it looks whether the agent is at work; so long it waits at least, and what comes meanwhile goes along. */
const lookEveryMs = 50;
/** So long it waits at most, whatever the agent does. */
const longestMs = 500;
/** Above this share of the time the event loop counts as busy. */
const busyShare = 0.5;

/**
 * The next moment in which the agent leaves the event loop idle, as it does while it waits for its model. What is sent
 * then slows no call, and requests that leave together share system calls. For an agent that never rests it comes after
 * half a second.
 */
export class QuietMoment {
  readonly #onCome: () => void;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #before: EventLoopUtilization | undefined;
  readonly #lookLater = () => timers.setTimeout(this.#look, lookEveryMs).unref();
  readonly #look = () => {
    this.#looks += 1;
    // Runtimes without that figure leave it undefined or at 0.
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

  /** Whether it is being waited for. */
  get isAwaited(): boolean {
    return this.#timer !== undefined;
  }

  /** Waits for it from now on, unless it does already. */
  await(): void {
    if (this.#timer) return;
    this.#looks = 0;
    this.#wait();
  }

  /** Waits no more. */
  cancel(): void {
    timers.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    this.#before = performance.eventLoopUtilization?.();
    this.#timer = detached(this.#lookLater);
  }
}
