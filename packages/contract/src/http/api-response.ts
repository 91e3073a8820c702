import type { EndpointName } from '@actlog/protocol';

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

/** `true` for a status of success. */
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
