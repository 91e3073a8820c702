/** Output that keeps the order in which lines were passed, also if some are not known yet. */
export class OrderedOutput {
  readonly #write: (line: Buffer) => void;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  /** @param write - receives each line */
  constructor(write: (line: Buffer) => void) {
    this.#write = write;
  }

  /** Resolves when all lines passed so far are written. */
  get written(): Promise<void> {
    return this.#last;
  }

  /** Writes a line at once, or after those before it. */
  write(line: Buffer | Promise<Buffer>): void {
    if (this.#waiting === 0 && Buffer.isBuffer(line)) {
      this.#write(line);
      return;
    }
    this.#waiting += 1;
    this.#last = this.#writeAfter(this.#last, line);
  }

  async #writeAfter(before: Promise<void>, line: Buffer | Promise<Buffer>): Promise<void> {
    await before;
    const known = await line;
    this.#waiting -= 1;
    this.#write(known);
  }
}
