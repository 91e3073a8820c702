import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { headers, limits } from '@actlog/protocol';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { Metrics } from '../metrics.ts';
import { answerErrors, apiError, malformedRequestAnswer, missingHost, sendError } from './errors.ts';
import { parseJsonBodies } from './json-body.ts';

/** What the HTTP side needs to know. */
export interface AppOptions {
  readonly logger: FastifyBaseLogger | undefined;
  readonly metrics: Metrics;
  /** Milliseconds that a whole request may take to arrive. */
  readonly requestTimeoutMs: number;
}

/** An identifier of 200 characters, each as long as percent-encoding can make it. */
const longestParameter = limits.maxIdentifierLength * 12;

/** What the log and the metrics have, as those of nginx do, where the connection ended before the answer did. */
const clientClosedRequest = 499;

/** No response may be cached, framed, sniffed or run. The docs page sets its own policy. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header(headers.requestId, request.id).headers(securityHeaders);
}

/** An answer that can no longer be sent says so by an error, which ends the process where nobody listens. */
function ignore(): void {}

/** A request by HTTP/1.1 must be refused then (RFC 9112, section 3.2). */
function isHostMissing({ httpVersion, headers: { host } }: IncomingMessage): boolean {
  return host === undefined && httpVersion === '1.1';
}

/** Makes the Fastify instance with everything that holds for every request. */
export function createApp({ logger, metrics, requestTimeoutMs }: AppOptions): FastifyInstance {
  const app: FastifyInstance = fastify({
    ...(logger ? { loggerInstance: logger } : { logger: false }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: limits.maxBodyBytes,
    // A client that sends a byte now and then must not hold a socket for ever.
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: Math.min(requestTimeoutMs, 10_000),
      connectionsCheckingInterval: 1000,
      // Node's own answer to a request without one is empty.
      requireHostHeader: false,
    },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: longestParameter },
    frameworkErrors: (error, request, reply) => {
      // A path that cannot be decoded, or is too long, comes past the hooks.
      begin(request, reply);
      void sendError(reply, apiError(error));
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') {
        socket.destroy();
        return;
      }
      const { id: requestId, status, text } = malformedRequestAnswer(error.code);
      app.log.info({ requestId, status, code: error.code }, 'malformed request');
      socket.end(text);
    },
  });
  app.decorateRequest('caller', undefined);
  parseJsonBodies(app);
  answerErrors(app, metrics);
  const tell = (request: FastifyRequest, status: number, durationMs: number): void => {
    const route = request.routeOptions.url ?? 'none';
    metrics.request(request.method, route, status, durationMs);
    // An allow-list: a log line never holds a body, a query, a header or a key's secret.
    request.log.info(
      {
        method: request.method,
        route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        tenantId: request.caller?.tenantId,
        keyId: request.caller?.keyId,
      },
      'request',
    );
  };
  let isClosing = false;
  app.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    setHeaders(request, reply);
    const startedMs = performance.now();
    // Comes once for each request, answered or not; `onResponse` has Fastify listen to two events more.
    reply.raw.once('close', () => {
      // A connection whose last answer came after the close began would else be kept alive, and the close with it.
      if (isClosing) setImmediate(() => app.server.closeIdleConnections());
      // Of one that was not answered something may have been read all the same.
      const status = reply.raw.writableFinished ? reply.statusCode : clientClosedRequest;
      tell(request, status, performance.now() - startedMs);
    });
    reply.raw.on('error', ignore);
  };
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    done(isHostMissing(request.raw) ? missingHost() : undefined);
  });
  // What else than 100-continue is expected need not be met (RFC 9110, section 10.1.1); Node's refusal is empty.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  return app;
}
