import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';

/** Bytes of lines that wait for standard output to take them. */
const maxWaitingBytes = 1024 * 1024;

/** Rounds and milliseconds between them in which the last lines are written when a server closes. */
const lastRounds = 50;
const roundMs = 20;

/**
 * Standard output, for log lines. Requests are answered whatever becomes of their lines: where these cannot be written,
 * as on a full disk or to a reader that has stopped, the next of them wait, and those beyond a bound are dropped.
 *
 * Lines are written at once, and not in the background: for those in the background pino would write what is left when
 * the process ends, and try that for ever.
 */
export class LogOutput {
  readonly #destination = pino.destination({
    // To ask for it makes a pipe one that says it is full, instead of one that waits.
    dest: process.stdout.fd ?? 1,
    sync: true,
    // With less there is no flush.
    minLength: 1,
    maxLength: maxWaitingBytes,
    retryEAGAIN: () => false,
  });

  readonly #onDropped: () => void;
  #hasNoReader = false;

  /** `onDropped` is told of each line that is lost. */
  constructor(onDropped: () => void) {
    this.#onDropped = onDropped;
    this.#destination.on('error', ({ code }: NodeJS.ErrnoException) => {
      // Whoever read the lines is gone. What could not be written else waits for `retry` or the next line.
      if (code === 'EPIPE') this.#hasNoReader = true;
    });
    this.#destination.on('drop', onDropped);
  }

  write(line: string): void {
    if (this.#hasNoReader) this.#onDropped();
    this.#destination.write(line);
  }

  /** Writes lines that wait, if that can be done now. */
  retry(): void {
    this.#destination.flush();
  }

  /** Resolves when no line waits, or after a second. */
  async drain(): Promise<void> {
    for (let round = 0; round < lastRounds && !(await this.#isDrained()); round += 1)
      await setTimeout(roundMs);
  }

  #isDrained(): Promise<boolean> {
    return new Promise((resolve) => {
      // A pipe cannot be synced, which is reported here too; and one without a reader will take nothing any more.
      this.#destination.flush((error?: NodeJS.ErrnoException) =>
        resolve(error?.syscall !== 'write' || error.code === 'EPIPE'),
      );
    });
  }
}
