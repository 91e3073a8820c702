import { once } from 'node:events';
import { cutToWidth } from './printable.ts';

let isClosed = false;

/** Error thrown when the reader of standard output is gone, as in `actlog … | head -1`. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** Notices when the reader of standard output or standard error closes the pipe, instead of ending the process. */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      isClosed ||= stream === process.stdout;
    });
  }
}

/**
 * Prints a line on standard output, at the pace of its reader.
 *
 * @throws OutputClosedError when the reader is gone
 */
export async function print(text: string): Promise<void> {
  await write(`${text}\n`);
}

/** Prints text without a line break. @throws OutputClosedError when the reader is gone */
export async function write(text: string): Promise<void> {
  if (isClosed) throw new OutputClosedError();
  if (process.stdout.write(text)) return;
  try {
    await once(process.stdout, 'drain');
  } catch (error) {
    throw isClosed ? new OutputClosedError() : error;
  }
}

/** Prints a line for the user on standard error, where it does not mix with data. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A line on standard error that shows how far a long operation is. Silent where that is not a terminal. */
export class ProgressLine {
  readonly #stream = process.stderr;
  #isShown = false;

  /** Replaces the line. */
  show(text: string): void {
    if (!this.#stream.isTTY) return;
    this.#stream.write(`\r\u001b[K${cutToWidth(text, (this.#stream.columns || 80) - 1)}`);
    this.#isShown = true;
  }

  /** Removes the line. */
  clear(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[K');
    this.#isShown = false;
  }
}
