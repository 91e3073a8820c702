import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { headers, limits } from '@actlog/protocol';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { ApiError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  apiError,
  handleErrors,
  malformedRequestResponse,
  missingHost,
  repeatedHost,
  sendError,
} from './errors.ts';
import type { RequestMemory } from './limits/request-memory.ts';
import { ConnectionTurns } from './limits/turns.ts';
import { parseJsonBodies } from './request-input.ts';

/** Options for {@link createApp}. */
export interface AppOptions {
  readonly logger: FastifyBaseLogger | undefined;
  readonly metrics: Metrics;
  /** Shares the event loop between the large bodies of tenants. */
  readonly tenantTurns: TenantTurns;
  /** Time limit for receiving a whole request, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Time after which a connection with an unread response is closed, in milliseconds. */
  readonly unreadTimeoutMs: number;
  /** Bounds the memory of pipelined requests. */
  readonly pipelinedMemory: RequestMemory;
}

/** Length of a 200-character identifier when each character has its longest percent-encoding. */
const maxParameterLength = limits.maxIdentifierLength * 12;

/** Status in log and metrics, as in nginx, for a connection that closed before the response was complete. */
const clientClosedRequest = 499;

/** Headers that keep responses from being cached, framed, sniffed or executed. The docs page sets another policy. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header(headers.requestId, request.id).headers(securityHeaders);
}

/** Listener for errors of responses that can no longer be sent. Without a listener, such an error ends the process. */
function ignoreError(): void {}

/** Returns the error of a request without exactly one `Host`, which must be rejected (RFC 9112, section 3.2). */
function hostError({ httpVersion, headers: { host }, rawHeaders }: IncomingMessage): ApiError | undefined {
  if (host === undefined) return httpVersion === '1.1' ? missingHost() : undefined;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 ? repeatedHost() : undefined;
}

/** Creates the Fastify instance with everything that applies to every request. */
export function createApp({
  logger,
  metrics,
  tenantTurns,
  requestTimeoutMs,
  unreadTimeoutMs,
  pipelinedMemory,
}: AppOptions): FastifyInstance {
  const turns = new ConnectionTurns({ memory: pipelinedMemory, unreadTimeoutMs });
  const app: FastifyInstance = fastify({
    ...(logger ? { loggerInstance: logger } : { logger: false }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: limits.maxBodyBytes,
    // A client that sends one byte now and then must not occupy a socket forever.
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: Math.min(requestTimeoutMs, 10_000),
      connectionsCheckingInterval: 1000,
      // Node's own response to a request without Host has no body.
      requireHostHeader: false,
    },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: maxParameterLength },
    frameworkErrors: (error, request, reply) => {
      // Requests with a path that is malformed or too long skip the hooks.
      begin(request, reply);
      turns.enter(request.raw, () => void sendError(reply, apiError(error)));
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') {
        socket.destroy();
        return;
      }
      const { id: requestId, status, text } = malformedRequestResponse(error.code);
      app.log.info({ requestId, status, code: error.code }, 'malformed request');
      // A peer that does not read the response must not keep the socket.
      socket.setTimeout(unreadTimeoutMs, () => socket.destroy());
      socket.end(text);
    },
  });
  app.decorateRequest('caller', undefined);
  parseJsonBodies(app, tenantTurns);
  handleErrors(app, metrics);
  const logRequest = (request: FastifyRequest, status: number, durationMs: number): void => {
    const route = request.routeOptions.url ?? 'none';
    metrics.request(request.method, route, status, durationMs);
    // Only these fields: a log line never contains a body, a query, a header or a key's secret.
    request.log.info(
      {
        method: request.method,
        route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        tenantId: request.caller?.tenantId,
        keyId: request.caller?.keyId,
        userId: request.caller?.user && request.caller.id,
      },
      'request',
    );
  };
  let isClosing = false;
  app.addHook('onClose', async () => turns.close());
  const unused = new UnusedConnections(app.server);
  app.addHook('preClose', (done) => {
    isClosing = true;
    unused.close();
    done();
  });
  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    setHeaders(request, reply);
    const startedMs = performance.now();
    // Emitted once per request, responded to or not. `onResponse` would make Fastify listen to two more events.
    reply.raw.once('close', () => {
      // A connection whose last response ended after the server began to close would stay open and delay the close.
      if (isClosing) setImmediate(() => app.server.closeIdleConnections());
      // Part of an incomplete response may have been read nevertheless.
      const status = reply.raw.writableFinished ? reply.statusCode : clientClosedRequest;
      logRequest(request, status, performance.now() - startedMs);
      turns.leave(request.raw);
    });
    reply.raw.on('error', ignoreError);
  };
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    turns.enter(request.raw, () => done(hostError(request.raw)));
  });
  // Expectations other than 100-continue may be ignored (RFC 9110, section 10.1.1). Node's own 417 has no body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  return app;
}

/**
 * Connections on which no byte has arrived. Browsers open some in advance. Node does not count them as idle, so they
 * would delay the close of the server.
 */
class UnusedConnections {
  readonly #sockets = new Set<Socket>();

  /** Watches the connections of a server. */
  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Closes all unused connections. */
  close(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
