type Work = (signal: AbortSignal) => Promise<unknown>;

/** Periodic tasks while the server runs. Rounds of one task never overlap. */
export class BackgroundTasks {
  readonly #onError: (name: string, error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  /** @param onError - called when a round of a task fails; the next round is run as usual */
  constructor(onError: (name: string, error: unknown) => void) {
    this.#onError = onError;
  }

  /**
   * Runs `work` every `everyMs`. The timer does not keep the process alive. The signal aborts when the tasks are
   * stopped, so that long work can stop early; the rest is done after the next start.
   */
  every(everyMs: number, name: string, work: Work): void {
    this.#timers.push(setInterval(() => this.#round(name, work), everyMs).unref());
  }

  /** Stops the timers, aborts running rounds, and resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running.values());
  }

  #round(name: string, work: Work): void {
    const { signal } = this.#stopping;
    if (signal.aborted || this.#running.has(name)) return;
    const round = work(signal)
      .then(() => {})
      .catch((error: unknown) => this.#onError(name, error))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, round);
  }
}
