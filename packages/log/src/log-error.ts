/** Stable codes of {@link LogError}. */
export type LogErrorCode =
  /** Input that does not have the format that its specification demands. */
  | 'malformed'
  /** A signature of a known key is wrong, or no known key has signed. */
  | 'untrusted'
  /** A proof does not lead from the entry, or the earlier tree, to the root of the checkpoint. */
  | 'unproven'
  /** A tile or an entry that the tree must have is not there. */
  | 'missing';

const brand = Symbol.for('@actlog/log/LogError');

/** Error thrown when a log, or a part of one, cannot be read or verified. */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: LogErrorCode;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, brand, { value: true });
  }

  /** `true` if a value is a {@link LogError}, also one of another copy of this package. */
  static is(value: unknown): value is LogError {
    return value instanceof Error && brand in value;
  }
}

/** Returns the error for input without the demanded format: the field, the problem and the fix. */
export function malformed(field: string, problem: string): LogError {
  return new LogError('malformed', `${field} ${problem}`);
}

const maxDigits = 16;

/**
 * Parses a decimal number without sign or leading zeros.
 *
 * @throws LogError `malformed` when it is anything else, or more than 2^53 - 1
 */
export function parseDecimal(field: string, text: string): number {
  if (!/^(0|[1-9]\d*)$/.test(text)) {
    throw malformed(field, `must be a decimal number without leading zeros, got ${shown(text)}.`);
  }
  const value = Number(text);
  if (text.length > maxDigits || !Number.isSafeInteger(value)) {
    throw malformed(field, `must be at most 2^53 - 1, got ${shown(text)}.`);
  }
  return value;
}

/**
 * Decodes standard Base64 with padding (RFC 4648, section 4), in its only canonical spelling.
 *
 * @throws LogError `malformed` when it is anything else
 */
export function parseBase64(field: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) {
    throw malformed(field, `must be standard Base64 with padding, got ${shown(text)}.`);
  }
  return bytes;
}

/**
 * Decodes a SHA-256 hash in Base64.
 *
 * @throws LogError `malformed` when it is anything else
 */
export function parseHash(field: string, text: string): Uint8Array {
  const hash = parseBase64(field, text);
  if (hash.length !== 32) {
    throw malformed(field, `must be a SHA-256 hash of 32 bytes in Base64, got ${hash.length} bytes.`);
  }
  return hash;
}

/** Encodes bytes in standard Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

const maxShown = 80;

/** Quotes input for an error message, shortened. */
export function shown(text: string): string {
  return JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
}
