import { cutToWidth } from './cut-to-width.ts';

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
