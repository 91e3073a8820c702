import { errorCodes, headers } from '@actlog/protocol';
import {
  ActlogError,
  APIConnectionError,
  InvalidArgumentError,
  ResponseShapeError,
  redactKeys,
} from '../errors/actlog-error.ts';
import {
  APIError,
  AuthenticationError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServiceUnavailableError,
  ValidationError,
} from '../errors/api-error.ts';
import { type ApiResponse, BodyTooLarge, type RequestName } from '../response/api-response.ts';
import { NonRetryableError, parseHttpDate, parseRetryAfter } from '../retry/retry-after.ts';
import type { Exchange } from '../transport/transport.ts';

/** Returns the error class of a status, or of the status that a known error code implies. */
function classFor(status: number): typeof APIError {
  if (status === 401) return AuthenticationError;
  if (status === 403) return PermissionDeniedError;
  if (status === 404) return NotFoundError;
  if (status === 409) return ConflictError;
  if (status === 400 || status === 422) return ValidationError;
  if (status === 429) return RateLimitError;
  if (status === 502 || status === 503 || status === 504) return ServiceUnavailableError;
  return status >= 500 ? InternalServerError : APIError;
}

/** Maximum number of characters of a service's text in an error. */
const maxTextLength = 500;

/**
 * Creates the error for a failed response, by its code first and its status second. Works for any body: a gateway's
 * page, or an empty or truncated body, must not hide the status.
 *
 * @param wallClockMs Current Unix time in milliseconds. A date in `Retry-After` is compared with it when the response
 * has no `Date`.
 */
export function errorFromResponse(response: ApiResponse, wallClockMs: number): APIError {
  const { status } = response.head;
  const text = response.body?.length ? response.body.text() : undefined;
  const sent = jsonOrText(text);
  const redacted = text && redactKeys(text);
  const { code, message, details } = readEnvelope(sent);
  const known: Readonly<Record<string, number>> = errorCodes;
  const standsFor = code !== undefined && Object.hasOwn(known, code) ? known[code] : undefined;
  const Class = classFor(standsFor ?? status);
  const name = code ?? `HTTP_${status}`;
  const { method, path } = response.request;
  const id = response.requestId === undefined ? '' : ` (request ${response.requestId})`;
  const problem = message ?? fallbackMessage(response);
  return new Class(
    `${method} ${path} failed with ${status} ${name}: ${problem}${findings(details, problem)}${id}`,
    name,
    {
      ...response.context(),
      retryAfterMs: retryAfterMs(response, wallClockMs),
      details,
      headers: response.head.toHeaders(),
      // A body rarely repeats an API key, and is then read once.
      body: redacted === text ? sent : jsonOrText(redacted),
      status,
    },
  );
}

function retryAfterMs({ head }: ApiResponse, wallClockMs: number): number | undefined {
  const sentAt = parseHttpDate(head.header('date') ?? '', wallClockMs);
  return parseRetryAfter(head.header(headers.retryAfter), sentAt ?? wallClockMs);
}

/** Returns the JSON in a text, or the text if it is not JSON. */
function jsonOrText(text: string | undefined): unknown {
  try {
    return text && JSON.parse(text);
  } catch {
    return text;
  }
}

function readEnvelope(sent: unknown): { code?: string; message?: string; details?: unknown[] } {
  const { error } = (sent ?? {}) as { readonly error?: unknown };
  if (typeof error !== 'object' || error === null) return {};
  const { code, message, details } = error as Record<string, unknown>;
  return {
    ...(typeof code === 'string' && /^[\w.-]{1,100}$/.test(code) ? { code: redactKeys(code) } : {}),
    ...(typeof message === 'string' ? { message: outsideText(message) } : {}),
    ...(Array.isArray(details) ? { details } : {}),
  };
}

/**
 * Formats the first validation findings that the message does not mention, so that the message alone says what to fix.
 */
function findings(details: readonly unknown[] | undefined, told: string): string {
  const lines = (details ?? []).slice(0, 3).flatMap((detail) => {
    const { path, message } = (detail ?? {}) as Record<string, unknown>;
    if (typeof path !== 'string' || typeof message !== 'string') return [];
    const line = `${path || 'body'}: ${message}`;
    return told.includes(outsideText(line)) ? [] : [line];
  });
  return lines.length === 0 ? '' : outsideText(` [${lines.join('; ')}]`);
}

function fallbackMessage({ head, body }: ApiResponse): string {
  const location = head.header('location');
  if (head.status < 400) {
    return `a redirect to ${originOf(location)}, not followed because it would forward the API key; correct baseURL`;
  }
  const type = head.header('content-type')?.slice(0, 100);
  return body?.length ? `the body has no error envelope (${type ?? 'no content type'})` : 'no body';
}

function originOf(location = ''): string {
  return URL.canParse(location) ? new URL(location).origin : 'another address';
}

/** Prepares a text from outside: bounded length, one line, API keys redacted. */
function outsideText(text: string): string {
  const short = text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
  return redactKeys(short).replace(/\p{Cc}+/gu, ' ');
}

/** Error codes of Node, undici, Bun and Deno for failures before a request is sent. */
const beforeSending =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_NODATA|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|DNSException.*)$/;
/**
 * System calls made before sending, or none known. The codes of a lost route also occur on an established connection.
 */
const connecting = /^(connect|getaddrinfo|query|undefined)/;
/** Messages of Deno, whose errors have no code. */
const beforeSendingMessage =
  /connection refused|dns error|failed to lookup|name not resolved|client error \(Connect\)/i;

/** Codes for an untrusted certificate or TLS setup, which a retry cannot fix. */
const tls = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS|^ERR_SSL|UNKNOWN_ISSUER|ALPN/;

/** Codes for a server that speaks none of the protocols that were offered with ALPN (RFC 7301). */
const alpn = /ALPN|APPLICATION_PROTOCOL/;

/**
 * Codes for invalid HTTP, oversized headers or a body that does not match its encoding (`ZSTD_` is Zstandard,
 * `ERR__ERROR_` is Brotli).
 */
const protocol =
  /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_EXCEEDED|UND_ERR_RES_CONTENT_LENGTH|content encoding |Z_|ZSTD_|ERR__ERROR_)/;

/** Converts the failure of an exchange to one of this package's errors. */
export function connectionFailure(
  error: unknown,
  exchange: Exchange,
  { method, path }: RequestName,
  attempt: number,
  origin: string,
): unknown {
  if (error instanceof ActlogError || error instanceof NonRetryableError) return error;
  const context = { method, path, attempts: attempt, status: exchange.head?.status };
  const describe = (problem: string, code = '') => `${method} ${path}: ${problem}${code && ` (${code})`}.`;
  if (error instanceof BodyTooLarge) {
    return new ResponseShapeError(
      describe(`${error.message}; raise maxResponseBytes, request less, or export to a file`),
      context,
    );
  }
  const code = codeOf(error);
  const withCause = { ...context, cause: withoutData(error) };
  if (code === 'UND_ERR_INVALID_ARG')
    return new InvalidArgumentError(describe('the request cannot be sent', code), withCause);
  if (protocol.test(code)) {
    return new ResponseShapeError(describe('the response cannot be decoded', code), withCause);
  }
  if (tls.test(code)) {
    const problem = alpn.test(code)
      ? `${origin} accepts none of the offered protocols (ALPN); check that it serves HTTP/1.1 at the port of baseURL`
      : `the TLS connection to ${origin} is not trusted; check baseURL and the certificate`;
    const message = describe(problem, code);
    return new APIConnectionError(message, { ...withCause, maybeSent: false }, 'TLS_FAILED');
  }
  // `ECONNREFUSED` never occurs on an established connection, so nothing was sent, even if a dispatcher in between
  // (such as a mock) started the request. The same holds for a response of a proxy.
  const refused =
    /^(ECONNREFUSED$|PROXY_)/.test(code) || (exchange.inferSentFromError && failedBeforeSending(error));
  const unsent = !exchange.maybeSent || (refused && !exchange.head);
  const problem = unsent
    ? `no connection to ${origin}; the request was not sent`
    : `the connection broke ${exchange.head ? 'during' : 'before'} the response; the service may have processed the request`;
  return new APIConnectionError(describe(problem, code), { ...withCause, maybeSent: !unsent });
}

/** `true` if the error alone proves that nothing was sent. */
function failedBeforeSending(error: unknown): boolean {
  if (!connecting.test(String(codedCause(error)?.syscall))) return false;
  return beforeSending.test(codeOf(error)) || beforeSendingMessage.test(messagesOf(error));
}

function codeOf(error: unknown): string {
  return String(codedCause(error)?.code ?? '');
}

function codedCause(error: unknown): Record<string, unknown> | undefined {
  return causesOf(error).find(({ code }) => typeof code === 'string');
}

function messagesOf(error: unknown): string {
  return causesOf(error)
    .map(({ message }) => String(message ?? ''))
    .join('\n');
}

/** Removes the bytes that a parser's error carries, so that printing the error does not show them. */
function withoutData(error: unknown): unknown {
  for (const at of causesOf(error)) if ('data' in at) Object.defineProperty(at, 'data', { value: undefined });
  return error;
}

/** Returns the error and its causes, at most five, because causes may be circular. */
function causesOf(error: unknown): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (let at = error; typeof at === 'object' && at !== null && found.length < 5; ) {
    const { cause, errors } = at as { cause?: unknown; errors?: unknown[] };
    found.push(at as Record<string, unknown>);
    at = cause ?? errors?.[0];
  }
  return found;
}
