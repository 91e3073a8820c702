import { createInterface } from 'node:readline/promises';
import { InterruptedError, UsageError } from '../errors/usage-error.ts';

/** `true` if a person can answer questions: standard input and standard error are a terminal. */
export function canPrompt(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/**
 * Asks a person before a destructive operation.
 *
 * @param action - phrase such as `archive the policy "x"`
 * @param yes - `true` if the option `--yes` was given: nothing is asked
 * @returns `false` if the person declined
 * @throws UsageError without a terminal and without `--yes`
 */
export async function confirm(action: string, yes: boolean | undefined): Promise<boolean> {
  if (yes) return true;
  if (!canPrompt()) throw new UsageError(`Add --yes to ${action} without a terminal to confirm it.`);
  const interruption = new Interruption();
  const readline = createInterface({ input: process.stdin, output: process.stderr });
  readline.once('SIGINT', () => interruption.interrupt());
  try {
    const reply = await readline.question(`Do you want to ${action}? [y/N] `, {
      signal: interruption.signal,
    });
    return /^y(es)?$/i.test(reply.trim());
  } catch (error) {
    interruption.check();
    throw error;
  } finally {
    readline.close();
    interruption.close();
  }
}

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

/**
 * Runs work that ends when the user interrupts it.
 *
 * @throws InterruptedError when it was interrupted, whether the work failed by it or ended
 */
export async function untilInterrupted(work: (interruption: Interruption) => Promise<void>): Promise<void> {
  const interruption = new Interruption();
  try {
    await work(interruption);
  } catch (error) {
    interruption.check();
    throw error;
  } finally {
    interruption.close();
  }
  interruption.check();
}
