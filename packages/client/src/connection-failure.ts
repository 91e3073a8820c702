import type { RequestName } from './answer.ts';
import { BodyTooLarge, UnknownEncoding } from './body-sink.ts';
import { ActlogError } from './errors/actlog-error.ts';
import { APIConnectionError } from './errors/api-connection-error.ts';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { ResponseShapeError } from './errors/response-shape-error.ts';
import type { Exchange } from './exchange.ts';
import { FinalFailure } from './final-failure.ts';

/** Failures that come before a request is sent, as Node, undici, Bun and Deno name them. */
const beforeSending =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_NODATA|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|DNSException.*)$/;
/** The steps that come before sending, or none that is known; the codes of a lost route also come from a connection that stands. */
const connecting = /^(connect|getaddrinfo|query|undefined)/;
const beforeSendingMessage = /connection refused|dns error|failed to lookup|name not resolved/i;

/** The peer's certificate or its TLS is not to be trusted; that does not change by trying again. */
const tls = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS|^ERR_SSL|UNKNOWN_ISSUER/;

/**
 * The peer speaks no proper HTTP, sends more header bytes than are taken, or a body that is not in its encoding: the
 * last two are the codes of Zstandard and of Brotli.
 */
const protocol =
  /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_EXCEEDED|UND_ERR_RES_CONTENT_LENGTH|Z_|ZSTD_|ERR__ERROR_)/;

/** Says what a failed exchange means, as one of this package's errors. */
export function connectionFailure(
  error: unknown,
  exchange: Exchange,
  { method, path }: RequestName,
  attempt: number,
  origin: string,
): unknown {
  if (error instanceof ActlogError || error instanceof FinalFailure) return error;
  const context = { method, path, attempts: attempt, status: exchange.head?.status };
  const say = (problem: string, code = '') => `${method} ${path}: ${problem}${code && ` (${code})`}.`;
  if (error instanceof BodyTooLarge) {
    return new ResponseShapeError(
      say(`${error.message}; raise maxResponseBytes, ask for less, or export to a file`),
      context,
    );
  }
  const code = codeOf(error);
  const withCause = { ...context, cause: withoutData(error) };
  if (code === 'UND_ERR_INVALID_ARG')
    return new InvalidArgumentError(say('it cannot be sent', code), withCause);
  if (error instanceof UnknownEncoding || protocol.test(code)) {
    return new ResponseShapeError(say('the answer cannot be read', code || messageOf(error)), withCause);
  }
  if (tls.test(code)) {
    const message = say(
      `the TLS connection to ${origin} is not trusted; check baseURL and the certificate`,
      code,
    );
    return new APIConnectionError(message, { ...withCause, maybeSent: false }, 'TLS_FAILED');
  }
  // A connection that stands is never refused: that counts also where a dispatcher in between, such as a mock, said
  // that the request was started. Nor did it reach the service where a proxy answered.
  const refused = /^(ECONNREFUSED$|PROXY_)/.test(code) || (exchange.errorTells && failedBeforeSending(error));
  const unsent = !exchange.maybeSent || (refused && !exchange.head);
  const problem = unsent
    ? `no connection to ${origin}; the request was not sent`
    : `the connection broke ${exchange.head ? 'in' : 'before'} the answer; the service may have acted on the request`;
  return new APIConnectionError(say(problem, code), { ...withCause, maybeSent: !unsent });
}

/** Whether an error by itself says that nothing was sent. */
function failedBeforeSending(error: unknown): boolean {
  if (!connecting.test(String(codedCause(error)?.syscall))) return false;
  return beforeSending.test(codeOf(error)) || beforeSendingMessage.test(messageOf(error));
}

function codeOf(error: unknown): string {
  return String(codedCause(error)?.code ?? '');
}

function codedCause(error: unknown): Record<string, unknown> | undefined {
  return causesOf(error).find(({ code }) => typeof code === 'string');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

/** A parser's error carries the bytes it choked on; printing the error must not show them. */
function withoutData(error: unknown): unknown {
  for (const at of causesOf(error)) if ('data' in at) Object.defineProperty(at, 'data', { value: undefined });
  return error;
}

/** The error and those below it, so many at the most, because causes can go in a circle. */
function causesOf(error: unknown): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (let at = error; typeof at === 'object' && at !== null && found.length < 5; ) {
    const { cause, errors } = at as { cause?: unknown; errors?: unknown[] };
    found.push(at as Record<string, unknown>);
    at = cause ?? errors?.[0];
  }
  return found;
}
