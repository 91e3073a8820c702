import { InterruptedError } from '../errors/interrupted-error.ts';

/** Aborts its signal on the first SIGINT or SIGTERM. A second one ends the process at once, as usual. */
export class Interruption {
  readonly #controller = new AbortController();
  #received: 'SIGINT' | 'SIGTERM' | undefined;

  constructor() {
    process.once('SIGINT', this.#onInterrupt);
    process.once('SIGTERM', this.#onTerminate);
  }

  /** Aborted when the user interrupts the command. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Interrupts the command, as Ctrl+C does. For a terminal that reports it as a key. */
  interrupt(signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): void {
    this.#received ??= signal;
    this.#controller.abort();
  }

  /** @throws InterruptedError when the command was interrupted */
  check(message?: string): void {
    if (this.#received !== undefined) throw new InterruptedError(this.#received, message);
  }

  /** Stops listening for signals. */
  close(): void {
    process.off('SIGINT', this.#onInterrupt);
    process.off('SIGTERM', this.#onTerminate);
  }

  readonly #onInterrupt = (): void => this.interrupt('SIGINT');
  readonly #onTerminate = (): void => this.interrupt('SIGTERM');
}
