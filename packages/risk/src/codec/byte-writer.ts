import { writeUuid } from './uuid-bytes.ts';

const encoder = new TextEncoder();

/** Maximum number of arguments that one function call can safely take. */
const mostArguments = 8192;

/** Writes numbers and strings compactly. `ByteReader` reads them in the same order. */
export class ByteWriter {
  readonly #bytes: number[] = [];

  /** Writes an integer from 0 to 2^53 - 1 in groups of seven bits, lowest first (LEB128). */
  number(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes.push(rest);
  }

  /** Writes a 32-bit number in four bytes. */
  word(value: number): void {
    this.#bytes.push(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24);
  }

  /** Writes six hexadecimal digits in three bytes. */
  shortHash(digits: string): void {
    const value = Number.parseInt(digits, 16);
    this.#bytes.push(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff);
  }

  /** Writes a string in UTF-8, preceded by its length. */
  text(value: string): void {
    const bytes = encoder.encode(value);
    this.number(bytes.length);
    for (const byte of bytes) this.#bytes.push(byte);
  }

  /** Writes an event id: 17 bytes for a UUID in one case, longer for others. */
  eventId(value: string): void {
    const start = this.#bytes.length;
    const isLowerCase = value === value.toLowerCase();
    this.#bytes.push(isLowerCase ? 0 : 1);
    if ((isLowerCase || value === value.toUpperCase()) && writeUuid(value.toLowerCase(), this.#bytes)) return;
    this.#bytes.length = start;
    this.number(2);
    this.text(value);
  }

  /** Returns everything that was written, in base64. */
  toString(): string {
    let binary = '';
    for (let start = 0; start < this.#bytes.length; start += mostArguments) {
      binary += String.fromCharCode(...this.#bytes.slice(start, start + mostArguments));
    }
    return btoa(binary).replace(/=+$/, '');
  }
}
