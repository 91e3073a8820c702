import type { Storage } from '../storage/storage.ts';

/** Wakes who waits for a decision: at once when this process makes it, soon when another one does. */
export class DecisionSignal {
  readonly #storage: Storage;
  readonly #waiting = new Map<string, Set<() => void>>();
  #endWatch: (() => void) | undefined;
  #isClosed = false;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Resolves when the action may have been decided, when `timeoutMs` is over, or when the caller has gone. Who is
   * woken looks again.
   */
  wait(id: string, timeoutMs: number, gone: AbortSignal): Promise<void> {
    if (gone.aborted || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timeout);
        gone.removeEventListener('abort', done);
        this.#forget(id, done);
        resolve();
      };
      const timeout = setTimeout(done, timeoutMs);
      gone.addEventListener('abort', done);
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting.add(done));
      this.#watch();
    });
  }

  /** Wakes who waits for this action. */
  wake(id: string): void {
    for (const done of [...(this.#waiting.get(id) ?? [])]) done();
  }

  /** Whether waiting has ended for good. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Wakes everyone for good, so that a stopping server can answer whoever waits. */
  close(): void {
    this.#isClosed = true;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const id of [...this.#waiting.keys()]) this.wake(id);
  }

  #forget(id: string, done: () => void): void {
    const waiting = this.#waiting.get(id);
    waiting?.delete(done);
    if (waiting?.size === 0) this.#waiting.delete(id);
    if (this.#waiting.size === 0) {
      this.#endWatch?.();
      this.#endWatch = undefined;
    }
  }

  #watch(): void {
    this.#endWatch ??= this.#storage.watch((actionId) => {
      if (actionId === undefined) this.#wakeAll();
      else this.wake(actionId);
    });
  }
}
