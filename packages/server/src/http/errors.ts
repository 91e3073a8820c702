import { randomUUID } from 'node:crypto';
import { maxHeaderSize, STATUS_CODES } from 'node:http';
import { endpoints, headers } from '@actlog/protocol';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, noSuchEndpoint, validationError } from '../lib/api-error.ts';
import type { Metrics } from '../observability/metrics.ts';
import { storageOutage } from '../storage/outage.ts';
import { PolicyCostError, QuotaError } from '../tenants/quotas.ts';
import { jsonType } from './mount.ts';
import { releaseBody } from './request-input.ts';

/** Largest body whose remainder is still received after it was rejected, in bytes. */
const maxDrainedBytes = 16 * 1024 * 1024;

/** Responds to every failure with the error envelope: of handlers, of Fastify itself, of unknown paths and methods. */
export function handleErrors(app: FastifyInstance, metrics: Metrics): void {
  app.setErrorHandler((error: FastifyError, request, reply) =>
    sendError(reply, reportedError(error, request, reply, metrics)),
  );
  app.setNotFoundHandler(unknownRouteHandler(Object.values(endpoints)));
}

/** Ends a request that failed: releases its body, counts and logs the error, and returns the one to send. */
export function reportedError(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: Metrics,
): ApiError {
  releaseBody(request);
  const reported = apiError(error);
  if (reported instanceof QuotaError || reported instanceof PolicyCostError)
    metrics.quotaRefusal(reported.quota);
  // An aborted body is not a failure of the server; the log has the request with 499.
  if (reported.code === 'INTERNAL' && error !== request.raw.errored)
    request.log.error({ err: error }, 'request failed');
  if (reported.code === 'PAYLOAD_TOO_LARGE' && drainsBody(request)) reply.removeHeader('connection');
  return reported;
}

/**
 * `true` if the remainder of a body that is too large is received and discarded. Closing the connection while its
 * client is sending resets it, and the client may never see the response.
 */
function drainsBody({ headers: { 'content-length': announced } }: FastifyRequest): boolean {
  return announced !== undefined && Number(announced) <= maxDrainedBytes;
}

/** Sends an error in the envelope of the specification. */
export function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply.code(error.status).headers(error.headers).type(jsonType).send(JSON.stringify(error.envelope));
}

/** Converts any error to an {@link ApiError}. An unexpected error reveals nothing else to the caller. */
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
      return validationError('', 'invalid_body', 'has a body whose length differs from Content-Length');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return validationError(
        '',
        'invalid_path',
        'has a path that cannot be decoded, or an identifier that is too long',
      );
  }
  return new ApiError(
    'INTERNAL',
    'An internal error occurred. The log of the service has the details under the request id.',
    {
      cause: error,
    },
  );
}

/**
 * Returns a handler for requests without a route: 405 if one of `routes` has the path with another method, otherwise
 * 404.
 *
 * @param routes - whole paths, with `:name` for a variable part
 */
export function unknownRouteHandler(
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

/** Returns the error of a request without the header `Host`. */
export function missingHost(): ApiError {
  return validationError('', 'missing_host', 'must have the header Host');
}

/** Returns the error of a request with more than one header `Host`. */
export function repeatedHost(): ApiError {
  return validationError('', 'repeated_host', 'must have the header Host only once');
}

function methodNotAllowed(methods: ReadonlySet<string>): ApiError {
  const allow = [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `This path supports only ${allow}.`, { headers: { allow } });
}

/** Returns the status and message for a malformed request, by the code of Node's error. */
function malformedRequest(code: string | undefined): readonly [number, string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request took too long to arrive.'];
    case 'HPE_HEADER_OVERFLOW':
      return [
        431,
        `The headers of the request, including those that proxies add, are larger than ${maxHeaderSize / 1024} KiB.`,
      ];
    default:
      return [400, 'The request is not valid HTTP.'];
  }
}

/** A response sent without Fastify. */
export interface MalformedRequestResponse {
  /** Value of the response's `x-request-id`. */
  readonly id: string;
  readonly status: number;
  /** The whole response, as it is sent. */
  readonly text: string;
}

/** Returns the response to bytes that are not an HTTP request, have too many headers, or arrive too slowly. */
export function malformedRequestResponse(code: string | undefined): MalformedRequestResponse {
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
