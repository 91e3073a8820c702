import { once } from 'node:events';
import { cutToWidth } from './printable.ts';

let isClosed = false;

/** Error of standard output other than a closed pipe, such as a full disk; reported once. */
let failure: NodeJS.ErrnoException | undefined;

/** Error thrown when the reader of standard output is gone, as in `actlog … | head -1`. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** Notices when standard output or standard error cannot be written, instead of ending the process with a stack. */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // Without standard error, nobody can be told anything.
      if (stream !== process.stdout) return;
      if (error.code === 'EPIPE') isClosed = true;
      else failure ??= error;
    });
  }
}

/** Waits for the streams to report what they could not write, and throws if that was anything. */
export async function checkOutput(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  const error = failure;
  failure = undefined;
  if (error)
    throw new Error(`Standard output could not be written: ${error.message.replace(/, write$/, '')}.`, {
      cause: error,
    });
}

/**
 * Prints a line on standard output, at the pace of its reader.
 *
 * @throws OutputClosedError when the reader is gone; Error when it cannot be written
 */
export async function print(text: string): Promise<void> {
  await write(`${text}\n`);
}

/** Prints text without a line break. @throws OutputClosedError when the reader is gone */
export async function write(text: string): Promise<void> {
  if (isClosed) throw new OutputClosedError();
  if (failure) return checkOutput();
  if (process.stdout.write(text)) return;
  try {
    await once(process.stdout, 'drain');
  } catch (error) {
    if (isClosed) throw new OutputClosedError();
    failure ??= error as NodeJS.ErrnoException;
    await checkOutput();
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
