import { randomUUID } from 'node:crypto';
import { maxHeaderSize, STATUS_CODES } from 'node:http';
import { endpoints, headers } from '@actlog/protocol';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../metrics.ts';
import { QuotaError } from '../quota/quota-error.ts';
import { storageOutage } from '../storage/outage.ts';
import { ApiError, noSuchEndpoint, validationError } from './api-error.ts';
import { releaseBody } from './json-body.ts';
import { jsonType } from './mount.ts';

/** The largest body whose rest is awaited after it was refused. */
const mostBytesThrownAway = 16 * 1024 * 1024;

/** Answers every failure with the envelope: of handlers, of Fastify itself, of unknown paths and methods. */
export function answerErrors(app: FastifyInstance, metrics: Metrics): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    releaseBody(request);
    const answer = apiError(error);
    if (answer instanceof QuotaError) metrics.quotaRefusal(answer.quota);
    // A body that its sender broke off is nobody's failure here; the log has the request with 499.
    if (answer.code === 'INTERNAL' && error !== request.raw.errored)
      request.log.error({ err: error }, 'request failed');
    if (answer.code === 'PAYLOAD_TOO_LARGE' && letsBodyCome(request)) reply.removeHeader('connection');
    return sendError(reply, answer);
  });
  app.setNotFoundHandler(unknownRoutes(Object.values(endpoints)));
}

/**
 * Whether the rest of a body that is too large may still arrive, to be thrown away. A connection that is closed while
 * its client sends is reset, and the client may never see why.
 */
function letsBodyCome({ headers: { 'content-length': announced } }: FastifyRequest): boolean {
  return announced !== undefined && Number(announced) <= mostBytesThrownAway;
}

/** Sends an error in the envelope of the specification. */
export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply.code(error.status).headers(error.headers).type(jsonType).send(JSON.stringify(error.envelope));
}

/** The answer to any error. What the service did not foresee tells the caller nothing but that. */
export function apiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const outage = storageOutage(error);
  if (outage !== undefined) {
    return new ApiError('OVERLOADED', `${outage} Send the request again later.`, {
      retryAfterSeconds: 2,
      cause: error,
    });
  }
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB; send less at once.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new ApiError(
        'UNSUPPORTED_MEDIA_TYPE',
        'The body must be JSON; send Content-Type: application/json.',
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return validationError('', 'invalid_body', 'has a body that is not as long as Content-Length says');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return validationError(
        '',
        'invalid_path',
        'has a path that cannot be decoded, or an identifier that is too long',
      );
  }
  return new ApiError('INTERNAL', 'Something went wrong in the service. Its log has the request id.', {
    cause: error,
  });
}

/**
 * Answers a request that no route takes: 405 where one of `routes` has its path and another method, else 404.
 *
 * @param routes their whole paths, with `:name` for a part that varies.
 */
export function unknownRoutes(
  routes: readonly { readonly method: string; readonly path: string }[],
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  const patterns = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
  }));
  return (request, reply) => {
    const path = request.url.split('?', 1)[0] as string;
    const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    return sendError(reply, methods.size === 0 ? noSuchEndpoint() : methodNotAllowed(methods));
  };
}

/** What a request without the header `Host` is answered. */
export function missingHost(): ApiError {
  return validationError('', 'missing_host', 'must have the header Host');
}

function methodNotAllowed(methods: ReadonlySet<string>): ApiError {
  const allow = [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { headers: { allow } });
}

/** The status and the message for bytes that are no request, by the code of Node's error. */
function malformedRequest(code: string | undefined): readonly [number, string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request took too long to arrive.'];
    case 'HPE_HEADER_OVERFLOW':
      return [
        431,
        `The headers of the request, with what a proxy adds to them, are larger than ${maxHeaderSize / 1024} KiB.`,
      ];
    default:
      return [400, 'What arrived is not an HTTP request that the service can read.'];
  }
}

/** An answer that Fastify has no part in. */
export interface MalformedRequestAnswer {
  /** Its `x-request-id`. */
  readonly id: string;
  readonly status: number;
  /** The whole of it, as it goes over the wire. */
  readonly text: string;
}

/** What is sent when the bytes that arrive are no HTTP request, have too many headers, or arrive too slowly. */
export function malformedRequestAnswer(code: string | undefined): MalformedRequestAnswer {
  const [status, message] = malformedRequest(code);
  const id = randomUUID();
  const body = JSON.stringify(new ApiError('VALIDATION_ERROR', message).envelope);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `${headers.contentType}: ${jsonType}`,
    `${headers.requestId}: ${id}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return { id, status, text: `${lines.join('\r\n')}\r\n\r\n${body}` };
}
