import type { Storage } from '../storage/storage.ts';

/** One who waits for the end of an action. */
export interface Listening {
  /**
   * Resolves when the action may have been decided since the last call or, at the first, since the listening began;
   * when `timeoutMs` is over; or when the caller has gone. Who is woken looks again.
   */
  heard(timeoutMs: number, gone: AbortSignal): Promise<void>;
  /** Ends the listening; whoever begins one sees to that. */
  end(): void;
}

/** Wakes who waits for a decision: at once when this process makes it, soon when another one does. */
export class DecisionSignal {
  readonly #storage: Storage;
  readonly #listeners = new Map<string, Set<Listener>>();
  #endWatch: (() => void) | undefined;
  #isClosed = false;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Listens for the end of an action. A look at the action after this call, and no earlier one, misses nothing. */
  listen(id: string): Listening {
    const listener = new Listener(() => this.#forget(id, listener));
    if (this.#isClosed) {
      listener.wake();
      return listener;
    }
    this.#watch();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return listener;
  }

  /** Wakes who waits for this action. */
  wake(id: string): void {
    for (const listener of [...(this.#listeners.get(id) ?? [])]) listener.wake();
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
    for (const id of [...this.#listeners.keys()]) this.wake(id);
  }

  #forget(id: string, listener: Listener): void {
    const listeners = this.#listeners.get(id);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#listeners.delete(id);
    if (this.#listeners.size === 0) {
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

/** Remembers a wake-up that comes while its owner looks at the action, and so does not wait. */
class Listener implements Listening {
  readonly end: () => void;
  #isWoken = false;
  #stopWaiting: (() => void) | undefined;

  constructor(end: () => void) {
    this.end = end;
  }

  wake(): void {
    this.#isWoken = true;
    this.#stopWaiting?.();
  }

  heard(timeoutMs: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timeout);
        gone.removeEventListener('abort', done);
        this.#stopWaiting = undefined;
        this.#isWoken = false;
        resolve();
      };
      const timeout = setTimeout(done, timeoutMs);
      gone.addEventListener('abort', done);
      this.#stopWaiting = done;
      if (this.#isWoken || gone.aborted) done();
    });
  }
}
