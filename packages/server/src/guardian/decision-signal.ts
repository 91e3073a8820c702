import type { Storage } from '../storage/storage.ts';

/** Listener for the end of a held action. */
export interface DecisionListener {
  /**
   * Resolves when the action may have been decided since the last call (since `listen` for the first call), when
   * `timeoutMs` has passed, or when the caller disconnects. The listener must then read the action again.
   */
  waitForChange(timeoutMs: number, disconnected: AbortSignal): Promise<void>;
  /** Stops listening. Must be called for every listener. */
  end(): void;
}

/** Wakes listeners for a decision: at once when this process makes it, and soon when another process does. */
export class DecisionSignal {
  readonly #storage: Storage;
  readonly #listeners = new Map<string, Set<Listener>>();
  #endWatch: (() => void) | undefined;
  #isClosed = false;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Starts listening for the end of an action. Read the action after this call, or a decision can be missed. */
  listen(id: string): DecisionListener {
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

  /** Wakes the listeners of an action. */
  wake(id: string): void {
    for (const listener of [...(this.#listeners.get(id) ?? [])]) listener.wake();
  }

  /** `true` after `close`. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Wakes all listeners, now and in the future, so that a stopping server can respond to waiting requests. */
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

/** A listener. It remembers a wake-up that arrives while its owner reads the action. */
class Listener implements DecisionListener {
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

  waitForChange(timeoutMs: number, disconnected: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timeout);
        disconnected.removeEventListener('abort', done);
        this.#stopWaiting = undefined;
        this.#isWoken = false;
        resolve();
      };
      const timeout = setTimeout(done, timeoutMs);
      disconnected.addEventListener('abort', done);
      this.#stopWaiting = done;
      if (this.#isWoken || disconnected.aborted) done();
    });
  }
}
