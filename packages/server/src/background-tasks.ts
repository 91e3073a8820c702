type Work = (signal: AbortSignal) => Promise<unknown>;

/** Work that is done again and again while the server runs, never twice at once. */
export class BackgroundTasks {
  readonly #onError: (name: string, error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  /** `onError` is told when a round of a task fails; the next round tries again. */
  constructor(onError: (name: string, error: unknown) => void) {
    this.#onError = onError;
  }

  /**
   * Does `work` every `everyMs`. The timer does not keep the process alive. The signal aborts when the tasks are
   * stopped: work that goes on for long ends early then, and what is left of it is done after the next start.
   */
  every(everyMs: number, name: string, work: Work): void {
    this.#timers.push(setInterval(() => this.#round(name, work), everyMs).unref());
  }

  /** Ends the timers, tells the rounds that run, and resolves when none does. */
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
