/** Where the bytes of an answer go. */
export interface BodySink {
  /** Takes some bytes; a promise asks the sender to pause until it is settled, and to stop when it is rejected. */
  write(chunk: Uint8Array): void | Promise<void>;
}

/** An answer is larger than it may be. */
export class BodyTooLarge extends Error {}

/** An answer is encoded in a way that this platform cannot undo. */
export class UnknownEncoding extends Error {}

const decoder = new TextDecoder();

/** Keeps an answer in memory, up to a bound. */
export class MemorySink implements BodySink {
  readonly #mostBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * @throws BodyTooLarge When there would be more than the bound.
   */
  write(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#mostBytes) {
      this.#chunks.length = 0;
      throw new BodyTooLarge(`the answer is larger than ${this.#mostBytes} bytes`);
    }
    this.#chunks.push(chunk);
  }

  /** How many bytes came. */
  get length(): number {
    return this.#length;
  }

  /** All bytes in one piece. */
  bytes(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }

  /** All bytes as UTF-8 text, without a byte order mark. */
  text(): string {
    const [only] = this.#chunks;
    return decoder.decode(this.#chunks.length === 1 ? only : this.bytes());
  }
}
