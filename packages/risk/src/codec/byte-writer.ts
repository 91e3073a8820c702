import { uuidBytes } from './event-id-bytes.ts';

/** Writes numbers and strings as few bytes as they need. Read back by `ByteReader`, in the same order. */
export class ByteWriter {
  #bytes: number[] = [];

  /** A whole number from 0 to 2^53 - 1, seven bits a byte, lowest first (LEB128). */
  number(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes.push(rest);
  }

  /** A 32-bit number in four bytes. */
  word(value: number): void {
    this.#bytes.push(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24);
  }

  /** A string in UTF-8, preceded by its length. */
  text(value: string): void {
    const bytes = new TextEncoder().encode(value);
    this.number(bytes.length);
    for (const byte of bytes) this.#bytes.push(byte);
  }

  /** An event id: 17 bytes for a UUID in one case, longer for others. */
  eventId(value: string): void {
    const upperCase = value === value.toUpperCase() && value !== value.toLowerCase();
    const bytes = uuidBytes(upperCase ? value.toLowerCase() : value);
    if (bytes === undefined) {
      this.number(2);
      this.text(value);
      return;
    }
    this.number(upperCase ? 1 : 0);
    for (const byte of bytes) this.#bytes.push(byte);
  }

  /** All that was written, in base64. */
  toString(): string {
    let binary = '';
    for (const byte of this.#bytes) binary += String.fromCharCode(byte);
    return btoa(binary).replace(/=+$/, '');
  }
}
