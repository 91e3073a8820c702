/** Those who wait for a decision. */
export class Waiting {
  readonly #wakes = new Set<() => void>();

  /** Resolves at the next decision, after `timeoutMs`, or when `signal` aborts. Who is woken looks again. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#wakes.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      signal.addEventListener('abort', wake);
      this.#wakes.add(wake);
    });
  }

  /** Wakes everyone. */
  wake(): void {
    for (const wake of [...this.#wakes]) wake();
  }
}
