import { errorCodes, headers } from '@actlog/protocol';
import { redactKeys } from '../errors/actlog-error.ts';
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
import { parseHttpDate, parseRetryAfter } from '../retry/retry-after.ts';
import type { ApiResponse } from './api-response.ts';

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
