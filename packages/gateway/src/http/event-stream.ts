import { createParser } from 'eventsource-parser';

/** Media type of server-sent events (WHATWG HTML, "Server-sent events"). */
export const eventStreamType = 'text/event-stream';

/** One event, or a comment, of a stream. */
export interface StreamBlock {
  /** Bytes of the block, with the blank line that ends it. */
  readonly raw: Buffer;
  /** Text of its message; undefined for a block without one. */
  readonly data: string | undefined;
  /** Id from which the stream can be resumed. */
  readonly id: string | undefined;
  /** Delay before the client resumes the stream, in milliseconds; undefined for a block without one. */
  readonly retryMs: number | undefined;
}

/** Splits a stream of server-sent events into its blocks, without changing a byte. */
export class EventStreamSplitter {
  readonly #parts: Buffer[] = [];
  #last: Buffer = Buffer.alloc(0);

  /** Takes the next chunk, and returns the blocks that are complete with it. */
  push(chunk: Buffer): StreamBlock[] {
    const blocks: StreamBlock[] = [];
    // A blank line may be split between two chunks.
    let rest = this.#last.length === 0 ? chunk : Buffer.concat([this.#last, chunk]);
    for (let end = endOfBlock(rest); end > 0; end = endOfBlock(rest)) {
      blocks.push(blockOf(Buffer.concat([...this.#parts.splice(0), rest.subarray(0, end)])));
      rest = rest.subarray(end);
    }
    const kept = Math.max(0, rest.length - 3);
    if (kept > 0) this.#parts.push(rest.subarray(0, kept));
    this.#last = rest.subarray(kept);
    return blocks;
  }

  /** Returns what came after the last complete block. */
  end(): Buffer {
    return Buffer.concat([...this.#parts.splice(0), this.#last]);
  }
}

/** Returns the bytes of an event with a message. */
export function eventBytes(message: Buffer): Buffer {
  const lines = message
    .toString()
    .trimEnd()
    .split(/\r\n|\r|\n/);
  return Buffer.from(`event: message\n${lines.map((line) => `data: ${line}\n`).join('')}\n`);
}

const blankLines = ['\n\n', '\r\n\r\n', '\r\r'] as const;

function endOfBlock(bytes: Buffer): number {
  const ends = blankLines.map((line) => {
    const start = bytes.indexOf(line);
    return start < 0 ? Number.POSITIVE_INFINITY : start + line.length;
  });
  const end = Math.min(...ends);
  return Number.isFinite(end) ? end : 0;
}

function blockOf(raw: Buffer): StreamBlock {
  let data: string | undefined;
  let id: string | undefined;
  let retryMs: number | undefined;
  const parser = createParser({
    onEvent: (event) => {
      data = event.data;
      id = event.id;
    },
    onRetry: (delay) => {
      retryMs = delay;
    },
  });
  // Another line ending, because a single carriage return at the end may be the first half of one.
  parser.feed(`${raw.toString()}\n`);
  return { raw, data: data === '' ? undefined : data, id, retryMs };
}
