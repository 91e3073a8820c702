import { limits } from '@actlog/protocol';

const unprintable = /[\p{Cc}\p{Cs}]/gu;
const plain = /^[\x20-\x7e]{1,200}$/;

/**
 * Converts a string to a valid identifier (reference profile: 1 to 200 characters, no control characters, no lone
 * surrogates). Frameworks may pass any name, and an event with a sanitized name is better than a rejected one.
 *
 * @param fallback - result for an empty string
 */
export function toIdentifier(text: string, fallback: string): string {
  if (typeof text === 'string' && plain.test(text)) return text;
  const sanitized = textOf(text)
    .replace(unprintable, '\u{fffd}')
    .slice(0, limits.maxIdentifierLength)
    .toWellFormed();
  return sanitized === '' ? fallback : sanitized;
}

/** Converts a value to a string. In JavaScript a name may be of any type, and its conversion may throw. */
function textOf(given: unknown): string {
  try {
    return String(given ?? '');
  } catch {
    return '';
  }
}

/**
 * Converts a string to a valid agent or session id. The service rejects `.` and `..`, which cannot be used in a URL
 * path, so their dots are replaced like unprintable characters.
 *
 * @param fallback - result for an empty string
 */
export function toResourceId(text: string, fallback: string): string {
  const id = toIdentifier(text, fallback);
  return id === '.' || id === '..' ? id.replaceAll('.', '\u{fffd}') : id;
}

/** Version, trace id, parent id and flags, then fields of later versions (W3C Trace Context, section 3.2.2). */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Maximum length of a value that is read, in characters: a later version may add fields. */
const maxLength = 256;

/** Length of a value of version 00, in characters. */
const lengthOfFirstVersion = 55;

/**
 * Returns a `traceparent` in the form of version 00 (W3C Trace Context, https://www.w3.org/TR/trace-context/):
 * `00-<trace id>-<span id>-<flags>`. Of a later version, only these parts are kept. Returns undefined for anything else:
 * another type, a list of values, upper case, ids of zeros, and more than 256 characters.
 */
export function parseTraceparent(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > maxLength) return undefined;
  const text = value.trim();
  const [, version, traceId = '', spanId = '', flags] = form.exec(text) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && text.length !== lengthOfFirstVersion) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return `00-${traceId}-${spanId}-${flags}`;
}

/** The parts of an OpenTelemetry span context that a `traceparent` has. */
interface SpanIds {
  readonly traceId?: unknown;
  readonly spanId?: unknown;
  /** W3C trace flags. Default: 0, not sampled. */
  readonly traceFlags?: number | undefined;
}

/** Returns the `traceparent` of a span; undefined if its ids are not valid. */
export function traceparentOf({ traceId, spanId, traceFlags = 0 }: SpanIds): string | undefined {
  return parseTraceparent(`00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`);
}
