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
