/** Callers that wait for a decision. */
export class Waiting {
  readonly #wakes = new Set<() => void>();

  /** Resolves when all waiters are woken, or when `signal` aborts. A woken waiter checks again. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#wakes.delete(wake);
        resolve();
      };
      signal.addEventListener('abort', wake);
      this.#wakes.add(wake);
    });
  }

  /** Wakes all waiters. */
  wake(): void {
    for (const wake of [...this.#wakes]) wake();
  }
}
