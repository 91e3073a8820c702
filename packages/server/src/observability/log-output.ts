import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';

/** Maximum bytes of lines that wait to be written. */
const maxWaitingBytes = 1024 * 1024;

/** Number of rounds to write the last lines when a server closes, and milliseconds between them. */
const drainRounds = 50;
const roundMs = 20;

/**
 * Standard output for log lines. It never blocks requests: when lines cannot be written, as on a full disk or to a
 * reader that has stopped, further lines wait, and those beyond a limit are dropped.
 *
 * Lines are written synchronously. With asynchronous writes, pino would try to write the remaining lines when the
 * process ends, and never give up.
 */
export class LogOutput {
  readonly #destination = pino.destination({
    // Reading `fd` makes a pipe non-blocking, so that it reports being full.
    dest: process.stdout.fd ?? 1,
    sync: true,
    // Without a minimum length, flush does nothing.
    minLength: 1,
    maxLength: maxWaitingBytes,
    retryEAGAIN: () => false,
  });

  readonly #onDropped: () => void;
  #hasNoReader = false;

  /** @param onDropped - called for each dropped line */
  constructor(onDropped: () => void) {
    this.#onDropped = onDropped;
    this.#destination.on('error', ({ code }: NodeJS.ErrnoException) => {
      // On EPIPE the reader is gone. Otherwise the lines wait for `retry` or the next line.
      if (code === 'EPIPE') this.#hasNoReader = true;
    });
    this.#destination.on('drop', onDropped);
  }

  write(line: string): void {
    if (this.#hasNoReader) this.#onDropped();
    this.#destination.write(line);
  }

  /** Tries to write the waiting lines. */
  retry(): void {
    this.#destination.flush();
  }

  /** Resolves when no lines wait, or after a second. */
  async drain(): Promise<void> {
    for (let round = 0; round < drainRounds && !(await this.#isDrained()); round += 1)
      await setTimeout(roundMs);
  }

  #isDrained(): Promise<boolean> {
    return new Promise((resolve) => {
      // Errors other than of `write` are ignored, because a pipe cannot be synced. A pipe without a reader is given up.
      this.#destination.flush((error?: NodeJS.ErrnoException) =>
        resolve(error?.syscall !== 'write' || error.code === 'EPIPE'),
      );
    });
  }
}
