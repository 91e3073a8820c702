/** Destination of a response body. */
export interface BodySink {
  /** Takes a chunk. A returned promise pauses the sender until it settles; a rejection stops it. */
  write(chunk: Uint8Array): void | Promise<void>;
}

/** Error thrown when a response is larger than its limit. */
export class BodyTooLarge extends Error {}

const decoder = new TextDecoder();

/** Sink that keeps a response in memory, up to a limit. */
export class MemorySink implements BodySink {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Stores a chunk.
   *
   * @throws BodyTooLarge When the body exceeds the limit.
   */
  write(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) {
      this.#chunks.length = 0;
      throw new BodyTooLarge(`the response is larger than ${this.#maxBytes} bytes`);
    }
    this.#chunks.push(chunk);
  }

  /** Number of bytes received. */
  get length(): number {
    return this.#length;
  }

  /** Returns all bytes in one array. */
  bytes(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }

  /** Returns all bytes as UTF-8 text, without a byte order mark. */
  text(): string {
    const [only] = this.#chunks;
    return decoder.decode(this.#chunks.length === 1 ? only : this.bytes());
  }
}
