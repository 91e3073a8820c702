import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParser } from 'eventsource-parser';

/** Delay after which a response begins without a message, in milliseconds. Most calls end sooner, with one message. */
const headersDelayMs = 500;

/**
 * Response to one request of an HTTP client, which becomes a stream of events when there is more to send than one
 * message.
 */
export class ClientResponse {
  readonly #response: ServerResponse;
  /** `true` if the client accepts a stream of events. */
  readonly acceptsStream: boolean;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers - headers of a response that does not come from a server */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.#response = response;
    this.acceptsStream = request.headers.accept?.includes(eventStreamType) ?? false;
    this.#headers = headers;
  }

  /** Calls a function when the response has ended, or the client is gone. */
  onClose(closed: () => void): void {
    this.#response.once('close', closed);
  }

  /** `true` once headers are sent. */
  get isStarted(): boolean {
    return this.#response.headersSent;
  }

  /** `true` once the response is a stream of events. */
  get isStream(): boolean {
    return this.isStarted && this.#response.getHeader('content-type') === eventStreamType;
  }

  /** Sends one of several messages; without effect for a client that accepts no stream. */
  event(message: Buffer): void {
    if (!this.acceptsStream) return;
    this.startStream();
    this.#response.write(eventBytes(message));
  }

  /** Sends the headers of a stream, unless they are sent. */
  startStream(): void {
    if (this.isStarted) return;
    const headers = { ...this.#headers, 'content-type': eventStreamType, 'cache-control': 'no-cache' };
    this.#response.setHeaders(new Map(Object.entries(headers)));
    this.#response.writeHead(200);
    this.#response.flushHeaders();
  }

  /**
   * Sends the headers of a stream if there is nothing else to send soon: a client or a proxy may give up on a response
   * without headers.
   *
   * @returns a function that leaves the headers to others
   */
  startStreamSoon(): () => void {
    if (!this.acceptsStream) return () => {};
    const timer = setTimeout(() => this.startStream(), headersDelayMs);
    timer.unref();
    const stop = () => clearTimeout(timer);
    this.onClose(stop);
    return stop;
  }

  /** Sends the last message, or the only one. */
  end(message: Buffer): void {
    if (this.isStarted) {
      this.#response.end(eventBytes(message));
      return;
    }
    this.#response.writeHead(200, { ...this.#headers, 'content-type': 'application/json' });
    this.#response.end(message.toString().trimEnd());
  }

  /** Ends the response without another message. */
  finish(status = 202): void {
    if (!this.isStarted) this.#response.writeHead(status, this.#headers);
    this.#response.end();
  }
}

/** Media type of server-sent events (WHATWG HTML, "Server-sent events"). */
export const eventStreamType = 'text/event-stream';

/** One event, or a comment, of a stream. */
interface StreamBlock {
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

// The line before a blank one may end differently.
const blankLines = ['\n\n', '\n\r\n', '\r\r'] as const;

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
