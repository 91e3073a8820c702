import type { Readable, Writable } from 'node:stream';

/**
 * Reads a stream line by line, and pauses it while the stream that its lines go to is full. What comes after the last
 * line ending is passed on as a line when the stream ends.
 *
 * @param sink - stream that the lines go to; undefined if they go to several
 * @param take - receives each line with its line ending
 * @returns resolves when the stream has ended or is closed
 */
export function pump(
  source: Readable,
  sink: Writable | undefined,
  take: (line: Buffer) => void,
): Promise<void> {
  const lines = new LineSplitter();
  const { promise, resolve } = Promise.withResolvers<void>();
  source.on('data', (chunk: Buffer) => {
    for (const line of lines.push(chunk)) take(line);
    if (!sink?.writableNeedDrain || sink.destroyed) return;
    source.pause();
    const resume = () => {
      sink.off('drain', resume);
      sink.off('close', resume);
      source.resume();
    };
    sink.once('drain', resume);
    sink.once('close', resume);
  });
  source.once('end', () => {
    const rest = lines.end();
    if (rest) take(rest);
  });
  source.once('error', () => resolve());
  source.once('close', () => resolve());
  source.once('end', () => resolve());
  return promise;
}

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
