import { headers as names } from '@actlog/protocol';
import { type HeaderOverrides, longestTimerMs } from '../client-options.ts';
import { InvalidArgumentError, invalidValue } from '../errors/actlog-error.ts';
import { detectPlatform } from '../platform.ts';

/** Options of one call. They override the client's options. */
export interface RequestOptions {
  /**
   * Aborts the call with an `APIAbortError`, including its delays and hooks. Ends a loop over a list before its next
   * item.
   */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of one attempt, including its body, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries. */
  readonly maxRetries?: number | undefined;
  /** Longest `Retry-After` to wait for, in milliseconds. */
  readonly maxRetryAfterMs?: number | undefined;
  /** Time limit of the whole call, with all attempts, delays and hooks, in milliseconds. */
  readonly deadlineMs?: number | undefined;
  /** Maximum size of the response, in bytes. */
  readonly maxResponseBytes?: number | undefined;
  /** Headers of this call. `null` removes a header that the client sends by default. */
  readonly headers?: HeaderOverrides | undefined;
  /**
   * Value of the `Idempotency-Key` header, the same for all attempts. Passing one declares that repeating the call is
   * safe, so the call is also retried after a broken connection. Without it, calls to endpoints that support the header
   * send a random key, which makes retries after a response of the service safe.
   */
  readonly idempotencyKey?: string | undefined;
  /** Query parameters unknown to this package. */
  readonly extraQuery?: Readonly<Record<string, QueryValue>> | undefined;
  /** Body fields unknown to this package. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /** Requests the next page while the items of the current one are being used. Default false. */
  readonly prefetch?: boolean | undefined;
  /**
   * Name of the array that contains the items of a page, which the specification does not fix; a path such as
   * `result.agents` if it is inside other objects, where `nextCursor` may be too. Default: the only array of the page, or
   * the one with a common name.
   */
  readonly itemsKey?: string | undefined;
}

/** Value of a query parameter. `undefined` and `null` omit it; an array repeats it. */
export type QueryValue = string | number | boolean | Date | null | undefined | readonly (string | number)[];

/** Query parameters by name. */
export type Query = Readonly<Record<string, QueryValue>>;

/**
 * Serializes query parameters, including the question mark. Returns an empty string if there are none.
 *
 * @throws InvalidArgumentError When a value is an object, a number that is not finite, or an invalid date.
 */
export function queryString(query: Query | undefined): string {
  let text = '';
  for (const [name, value] of plainEntries('query', query)) {
    if (value === undefined || value === null) continue;
    for (const single of Array.isArray(value) ? value : [value]) {
      text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(asText(name, single))}`;
    }
  }
  return text;
}

function asText(name: string, value: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === 'string' && value.isWellFormed()) return value;
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value);
  throw new InvalidArgumentError(
    `query parameter ${name} must be a string, a finite number, a boolean or a valid Date.`,
  );
}

/**
 * Returns the entries of a plain object. `Headers`, `Map` and `URLSearchParams` have no own properties, so they are
 * rejected rather than silently ignored.
 *
 * @throws InvalidArgumentError When the value is not a plain object.
 */
export function plainEntries<Value>(
  field: string,
  values: Readonly<Record<string, Value>> | undefined,
): [string, Value][] {
  const record = values ?? {};
  if (typeof record === 'object' && !(Symbol.iterator in record)) return Object.entries(record);
  throw new InvalidArgumentError(`${field} must be a plain object: convert it with Object.fromEntries.`);
}

/**
 * Returns the signal after checking that it is an `AbortSignal`.
 *
 * @throws InvalidArgumentError When it is something else, such as the `AbortController` that owns it.
 */
export function checkedSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (!signal) return undefined;
  if (typeof signal.addEventListener === 'function') return signal;
  throw new InvalidArgumentError(
    'signal must be an AbortSignal: pass controller.signal, not the controller.',
  );
}

/**
 * Checks a time limit in milliseconds. Limits it to the longest timer, because `setTimeout` with a longer delay fires
 * at once.
 *
 * @throws InvalidArgumentError When the value is not a positive number.
 */
export function timeLimit(field: string, value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value > 0) return Math.min(value, longestTimerMs);
  throw invalidValue(field, 'a positive number of milliseconds', value);
}

/**
 * Checks an integer.
 *
 * @throws InvalidArgumentError When the value is not an integer of at least `least`.
 */
export function wholeNumber(field: string, value: unknown, least = 0): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= least) return value as number;
  throw invalidValue(field, `an integer of at least ${least}`, value);
}

/** Values that the headers of every request are built from. */
interface HeaderSource {
  readonly apiKey: string;
  readonly sdk: string;
  readonly framework?: string | undefined;
  readonly agentVersion?: string | undefined;
  readonly headers?: HeaderOverrides | undefined;
}

/**
 * Builds the headers of a request with a body: those of the specification ("Authentication"), `accept`, `user-agent`, and
 * those of the caller. In a browser, `user-agent` is the browser's: setting it there would need the service's consent
 * (Fetch standard, "CORS-preflight fetch").
 *
 * @throws InvalidArgumentError When a value is not valid in a header.
 */
export function baseHeaders(source: HeaderSource): Record<string, string> {
  const result: Record<string, string> = {
    [names.authorization]: `Bearer ${source.apiKey}`,
    [names.contentType]: 'application/json',
    [names.sdk]: checked('sdk', source.sdk),
    accept: 'application/json, */*;q=0.5',
  };
  if (detectPlatform() !== 'browser') result['user-agent'] = source.sdk;
  if (source.framework) result[names.framework] = checked('framework', source.framework);
  if (source.agentVersion) result[names.agentVersion] = checked('agentVersion', source.agentVersion);
  return withOverrides(result, source.headers);
}

/** Returns the same headers for a request without a body. */
export function withoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { [names.contentType]: _unused, ...rest } = headers;
  return rest;
}

/**
 * Returns a copy with the caller's headers applied.
 *
 * @throws InvalidArgumentError When a name or a value is not valid in a header.
 */
export function withOverrides(
  base: Readonly<Record<string, string>>,
  overrides: HeaderOverrides | undefined,
): Record<string, string> {
  const result = { ...base };
  for (const [name, value] of plainEntries('headers', overrides)) {
    const lower = name.toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(lower)) {
      throw new InvalidArgumentError(
        `headers: ${JSON.stringify(name)} is not a valid header name (RFC 9110, section 5.1).`,
      );
    }
    if (value === null) delete result[lower];
    else if (value !== undefined) result[lower] = checked(`headers: ${lower}`, value);
  }
  return result;
}

function checked(field: string, value: string): string {
  // A line break would start another header, and non-ASCII characters arrive garbled.
  if (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)) return value;
  throw new InvalidArgumentError(
    `${field} must be printable ASCII on one line, because it is sent as a header.`,
  );
}
