/** Positions of the hyphens in a UUID (RFC 9562, section 4). */
const hyphens = new Set([8, 13, 18, 23]);

/** Position of the first digit of each of the 16 bytes. */
const digitPlaces = Array.from({ length: 36 }, (_, place) => place)
  .filter((place) => !hyphens.has(place))
  .filter((_, index) => index % 2 === 0);

/** Returns the value of a lower-case hexadecimal digit by its code; -1 for any other character. */
function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x61 + 10 : -1;
}

/**
 * Adds the 16 bytes of a lower-case UUID. Returns false for any other string, possibly after adding some
 * bytes.
 */
function writeUuid(text: string, bytes: number[]): boolean {
  if (text.length !== 36) return false;
  for (const hyphen of hyphens) if (text.charCodeAt(hyphen) !== 0x2d) return false;
  for (const place of digitPlaces) {
    const high = digitValue(text.charCodeAt(place));
    const low = digitValue(text.charCodeAt(place + 1));
    if (high < 0 || low < 0) return false;
    bytes.push(high * 16 + low);
  }
  return true;
}

/** Returns the lower-case UUID of 16 bytes. */
function uuidOf(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [8, 12, 16, 20, 32].map((end, at, ends) => digits.slice(ends[at - 1] ?? 0, end)).join('-');
}

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

/**
 * Returns a 32-bit hash of a string's UTF-16 code units: FNV-1a with the finalizer of MurmurHash3, so that low and high
 * bits are equally good. For sketches only; it is not collision-resistant against chosen input.
 */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mix32(hash);
}

/** Mixes the bits of a 32-bit number (finalizer of MurmurHash3). */
function mix32(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the hash of an ordered pair. */
export function pairHash(first: number, second: number): number {
  return mix32((Math.imul(first, 31) + second) ^ 0x9e3779b9);
}
