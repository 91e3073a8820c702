import { timers } from '../timers.ts';

/** Callers that wait until a condition holds. Nobody polls: whoever changes the condition calls `check`. */
export class WaitingRoom {
  readonly #isOpen: () => boolean;
  readonly #waiting = new Set<(isOpen: boolean) => void>();

  readonly #onAdmitted: () => void;

  /** @param onAdmitted - called for everybody who is let go because the condition holds, before the next is */
  constructor(isOpen: () => boolean, onAdmitted: () => void = () => {}) {
    this.#isOpen = isOpen;
    this.#onAdmitted = onAdmitted;
  }

  /**
   * Resolves to true when the condition holds, to false when the time is over or the signal aborts. The wait keeps
   * the process alive, for somebody awaits it.
   */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    // Whoever came earlier goes first.
    this.check();
    if (this.#isOpen()) {
      this.#onAdmitted();
      return Promise.resolve(true);
    }
    if (signal?.aborted || timeoutMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isOpen: boolean) => {
        timers.clearTimeout(timer);
        signal?.removeEventListener('abort', give);
        this.#waiting.delete(end);
        resolve(isOpen);
      };
      const give = () => end(false);
      const timer = timers.setTimeout(give, Math.min(timeoutMs, 2 ** 31 - 1));
      signal?.addEventListener('abort', give, { once: true });
      this.#waiting.add(end);
    });
  }

  /** Lets one after another go for as long as the condition holds. */
  check(): void {
    if (this.#waiting.size === 0) return;
    for (const end of this.#waiting) {
      if (!this.#isOpen()) return;
      this.#onAdmitted();
      end(true);
    }
  }

  /** Lets everybody go whether it holds or not. */
  release(): void {
    for (const end of [...this.#waiting]) end(this.#isOpen());
  }
}
