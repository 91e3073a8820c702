/** Work that is done again and again while the server runs, never twice at once. */
export class BackgroundTasks {
  readonly #onError: (name: string, error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Map<string, Promise<void>>();
  #isStopped = false;

  /** `onError` is told when a round of a task fails; the next round tries again. */
  constructor(onError: (name: string, error: unknown) => void) {
    this.#onError = onError;
  }

  /** Does `work` every `everyMs`. The timer does not keep the process alive. */
  every(everyMs: number, name: string, work: () => Promise<unknown>): void {
    this.#timers.push(setInterval(() => this.#round(name, work), everyMs).unref());
  }

  /** Ends the timers, and resolves when no round runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running.values());
  }

  #round(name: string, work: () => Promise<unknown>): void {
    if (this.#isStopped || this.#running.has(name)) return;
    const round = work()
      .then(() => {})
      .catch((error: unknown) => this.#onError(name, error))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, round);
  }
}
