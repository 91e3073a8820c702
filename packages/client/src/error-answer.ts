import { errorCodes, headers } from '@actlog/protocol';
import type { Answer } from './answer.ts';
import { redactKeys } from './api-key.ts';
import { APIError } from './errors/api-error.ts';
import { AuthenticationError } from './errors/authentication-error.ts';
import { ConflictError } from './errors/conflict-error.ts';
import { InternalServerError } from './errors/internal-server-error.ts';
import { NotFoundError } from './errors/not-found-error.ts';
import { PermissionDeniedError } from './errors/permission-denied-error.ts';
import { RateLimitError } from './errors/rate-limit-error.ts';
import { ServiceUnavailableError } from './errors/service-unavailable-error.ts';
import { ValidationError } from './errors/validation-error.ts';
import { parseHttpDate } from './http-date.ts';
import { parseRetryAfter } from './retry-after.ts';

/** The error class of a status; a code of the profile stands for its status there. */
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

/** The most characters of a text from the service that become part of an error. */
const longestText = 500;

/**
 * Makes the error that an answer stands for: by its code first, by its status second. It is made from anything,
 * because a gateway's page, an empty or a cut body must not hide the status.
 *
 * @param wallClockMs Compared with a date in `Retry-After`, where the answer has no `Date` of its own.
 */
export function errorFromAnswer(answer: Answer, wallClockMs: number): APIError {
  const { status } = answer.head;
  const { code, message, details } = readEnvelope(answer);
  const known: Readonly<Record<string, number>> = errorCodes;
  const standsFor = code !== undefined && Object.hasOwn(known, code) ? known[code] : undefined;
  const Class = classFor(standsFor ?? status);
  const name = code ?? `HTTP_${status}`;
  const { method, path } = answer.request;
  const id = answer.requestId === undefined ? '' : ` (request ${answer.requestId})`;
  const text = message ?? fallbackMessage(answer);
  return new Class(
    `${method} ${path} answered ${status} ${name}: ${text}${findings(details, text)}${id}`,
    name,
    {
      ...answer.context(),
      retryAfterMs: retryAfterMs(answer, wallClockMs),
      details,
      headers: answer.head.toHeaders(),
      status,
    },
  );
}

function retryAfterMs({ head }: Answer, wallClockMs: number): number | undefined {
  const sentAt = parseHttpDate(head.header('date') ?? '', wallClockMs);
  return parseRetryAfter(head.header(headers.retryAfter), sentAt ?? wallClockMs);
}

function readEnvelope(answer: Answer): { code?: string; message?: string; details?: unknown[] } {
  let error: unknown;
  try {
    error = answer.jsonObject().error;
  } catch {
    return {};
  }
  if (typeof error !== 'object' || error === null) return {};
  const { code, message, details } = error as Record<string, unknown>;
  return {
    ...(typeof code === 'string' && /^[\w.-]{1,100}$/.test(code) ? { code: redactKeys(code) } : {}),
    ...(typeof message === 'string' ? { message: outsideText(message) } : {}),
    ...(Array.isArray(details) ? { details } : {}),
  };
}

/** The first findings of a validation that the message does not tell, so that it alone says what to mend. */
function findings(details: readonly unknown[] | undefined, told: string): string {
  const lines = (details ?? []).slice(0, 3).flatMap((detail) => {
    const { path, message } = (detail ?? {}) as Record<string, unknown>;
    if (typeof path !== 'string' || typeof message !== 'string') return [];
    const line = `${path || 'body'}: ${message}`;
    return told.includes(outsideText(line)) ? [] : [line];
  });
  return lines.length === 0 ? '' : outsideText(` [${lines.join('; ')}]`);
}

function fallbackMessage({ head, body }: Answer): string {
  const location = head.header('location');
  if (head.status < 400) {
    return `a redirect to ${originOf(location)}, not followed as the API key would go with it; set baseURL right`;
  }
  const type = head.header('content-type')?.slice(0, 100);
  return body?.length ? `no error envelope in the body (${type ?? 'no content type'})` : 'no body';
}

function originOf(location = ''): string {
  return URL.canParse(location) ? new URL(location).origin : 'another place';
}

/** Text from outside: of bounded length, on one line, without a key that the service may have echoed. */
function outsideText(text: string): string {
  const short = text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  return redactKeys(short).replace(/\p{Cc}+/gu, ' ');
}
