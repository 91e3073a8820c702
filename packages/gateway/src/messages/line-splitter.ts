const newline = 0x0a;

/**
 * Splits a stream into lines without changing a byte (Model Context Protocol, "Transports": stdio). A character may be
 * split between two chunks, so lines are bytes, and each includes its line ending.
 */
export class LineSplitter {
  readonly #parts: Buffer[] = [];

  /** Takes the next chunk, and returns the lines that are complete with it. */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, end + 1);
      lines.push(this.#parts.length === 0 ? rest : Buffer.concat([...this.#parts.splice(0), rest]));
      start = end + 1;
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
    return lines;
  }

  /** Returns what came after the last line ending; undefined if nothing did. */
  end(): Buffer | undefined {
    return this.#parts.length === 0 ? undefined : Buffer.concat(this.#parts.splice(0));
  }
}
