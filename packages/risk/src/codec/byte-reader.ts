import { uuidOf } from './uuid-bytes.ts';

function decoded(text: string): string {
  try {
    return atob(text);
  } catch (cause) {
    throw new RangeError('risk state is not base64; pass the unmodified string that was serialized', {
      cause,
    });
  }
}

/** Reads the output of `ByteWriter`. Every method throws a `RangeError` at the end of the bytes. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  /** @param text Output of `ByteWriter.toString`. */
  constructor(text: string) {
    this.#bytes = Uint8Array.from(decoded(text), (character) => character.charCodeAt(0));
  }

  #take(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) {
      throw new RangeError('risk state is truncated; pass the unmodified string that was serialized');
    }
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** Reads an integer. */
  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#take(1)[0] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
      if (scale > 2 ** 53)
        throw new RangeError(
          'risk state contains a number that is too large; pass the unmodified string that was serialized',
        );
    }
  }

  /** Reads a 32-bit number. */
  word(): number {
    const [a, b, c, d] = this.#take(4) as unknown as [number, number, number, number];
    return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
  }

  /** Reads six hexadecimal digits. */
  shortHash(): string {
    const [a, b, c] = this.#take(3) as unknown as [number, number, number];
    return (a | (b << 8) | (c << 16)).toString(16).padStart(6, '0');
  }

  /** `true` if everything was read. */
  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Reads a string. */
  text(): string {
    return new TextDecoder().decode(this.#take(this.number()));
  }

  /** Reads an event id. */
  eventId(): string {
    const form = this.number();
    if (form > 1) return this.text();
    const uuid = uuidOf(this.#take(16));
    return form === 1 ? uuid.toUpperCase() : uuid;
  }
}
