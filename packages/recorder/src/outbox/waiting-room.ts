import { timers } from '../lib/timers.ts';

/** Callers that wait until a condition holds. There is no polling: code that changes the condition calls `check`. */
export class WaitingRoom {
  readonly #isOpen: () => boolean;
  readonly #waiting = new Set<(isOpen: boolean) => void>();

  readonly #onAdmitted: () => void;

  /** @param onAdmitted - called for each caller whose wait ends because the condition holds, before the next one */
  constructor(isOpen: () => boolean, onAdmitted: () => void = () => {}) {
    this.#isOpen = isOpen;
    this.#onAdmitted = onAdmitted;
  }

  /**
   * Resolves to `true` when the condition holds, to `false` on timeout or abort. The wait keeps the process alive,
   * because a caller is awaiting it.
   */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    // Earlier callers go first.
    this.check();
    if (this.#isOpen()) {
      this.#onAdmitted();
      return Promise.resolve(true);
    }
    if (signal?.aborted || timeoutMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isOpen: boolean) => {
        timers.clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.#waiting.delete(end);
        resolve(isOpen);
      };
      const giveUp = () => end(false);
      const timer = timers.setTimeout(giveUp, Math.min(timeoutMs, 2 ** 31 - 1));
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(end);
    });
  }

  /** Ends waits in order while the condition holds. */
  check(): void {
    if (this.#waiting.size === 0) return;
    for (const end of this.#waiting) {
      if (!this.#isOpen()) return;
      this.#onAdmitted();
      end(true);
    }
  }

  /** Ends all waits, whether the condition holds or not. */
  release(): void {
    for (const end of [...this.#waiting]) end(this.#isOpen());
  }
}
