import { parseRetryAfter } from '@actlog/client';
import { type EndpointName, headers as names } from '@actlog/protocol';
import type { Settings } from '../contract-options.ts';

/** Maximum length of a quoted response in a message, in characters. */
const longestQuote = 160;

/** A complete response. */
export interface ApiResponse {
  readonly method: string;
  /** Path below the base URL, with its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Body; empty if there is none. */
  readonly text: string;
  /** Body as JSON, integers beyond 2^53 as the text of their digits; undefined if it is not JSON. */
  readonly json: unknown;
  /** `true` if the body begins with a byte order mark, which JSON must not (RFC 8259, section 8.1). */
  readonly hasByteOrderMark?: boolean;
  /** Endpoint of the request; undefined for a path outside the endpoint table. */
  readonly endpoint?: EndpointName;
  /** Body of the request before it was serialized; undefined if it had none, or a raw one. */
  readonly requestBody?: unknown;
  /** `true` if the request had the key of the tenant under test. */
  readonly isOwn?: boolean;
}

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** `true` if a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `true` for a successful status. */
export function succeeded({ status }: ApiResponse): boolean {
  return status >= 200 && status < 300;
}

/** `true` for a response of a gateway in front of the service, which may not know the envelope. */
export function isGatewayError({ status }: ApiResponse): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Returns the error of an envelope; undefined if there is none. */
export function errorOf({ json }: ApiResponse): JsonObject | undefined {
  return isObject(json) && isObject(json.error) ? json.error : undefined;
}

/** Returns the code of an envelope; undefined if there is none. */
export function codeOf(response: ApiResponse): string | undefined {
  const code = errorOf(response)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Describes a response: the request, the status, and the code or a quote of the body. */
export function describeResponse(response: ApiResponse): string {
  const { method, path, status, text } = response;
  const code = codeOf(response);
  const quote = text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text;
  return `${method} ${path} returned ${status}${code !== undefined ? ` ${code}` : quote ? ` and ${quote}` : ''}`;
}

/** Yields every value in a document, starting with the document itself. */
export function* values(document: unknown): Generator<unknown> {
  yield document;
  if (typeof document !== 'object' || document === null) return;
  for (const value of Object.values(document)) yield* values(value);
}

/** `true` if a document contains a string, or a number, that reads like the text. */
export function holds(document: unknown, text: string): boolean {
  return values(document).some(
    (value) => value === text || (typeof value === 'number' && String(value) === text),
  );
}

/** `true` if a document contains the id of an event, in upper or lower case (RFC 9562), as a value or as a name. */
export function mentions(document: unknown, eventId: string): boolean {
  const wanted = eventId.toLowerCase();
  const isId = (value: unknown) => typeof value === 'string' && value.toLowerCase() === wanted;
  return values(document).some((value) => isId(value) || (isObject(value) && Object.keys(value).some(isId)));
}

/** Returns every array in a document. */
export function arrays(document: unknown): unknown[][] {
  return [...values(document).filter((value) => Array.isArray(value))];
}

/** Returns every object in a document. */
export function objects(document: unknown): JsonObject[] {
  return [...values(document).filter(isObject)];
}

/** Returns the values of every member with this name in a document. */
export function membersNamed(document: unknown, name: string): unknown[] {
  return objects(document).flatMap((object) => (Object.hasOwn(object, name) ? [object[name]] : []));
}

/** Maximum number of retries after 429, 502, 503 or 504. */
const maxRepeats = 5;

/** Statuses that clients retry (specification, "Errors", retry guidance). */
const retried = new Set([429, 502, 503, 504]);

/** `true` if clients retry a request that received this status, by the specification. */
export function isRetried(status: number): boolean {
  return retried.has(status);
}

/**
 * Sends a request until its status is neither 429, 502, 503 nor 504, with at most five retries. Waits for the time in
 * `Retry-After`, unless it is longer than the run allows, or with exponential backoff and jitter.
 */
export async function repeated<Received extends { readonly status: number; readonly headers: Headers }>(
  { maxRetryAfterMs, clock, signal }: Pick<Settings, 'maxRetryAfterMs' | 'clock' | 'signal'>,
  send: () => Promise<Received>,
): Promise<Received> {
  for (let repeat = 0; ; repeat += 1) {
    const response = await send();
    if (!isRetried(response.status) || repeat >= maxRepeats) return response;
    const asked = parseRetryAfter(response.headers.get(names.retryAfter), Date.now());
    const delayMs = asked ?? Math.random() * 200 * 2 ** repeat;
    if (delayMs > maxRetryAfterMs) return response;
    await clock.sleep(delayMs, signal);
  }
}
