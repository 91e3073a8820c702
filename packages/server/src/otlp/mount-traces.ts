import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireScope } from '../http/authentication.ts';
import { reportedError, unknownRouteHandler } from '../http/errors.ts';
import { releaseBody } from '../http/json-body.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Services } from '../services.ts';
import { maxBodyBytes } from './body-limits.ts';
import { isGzip } from './decompress.ts';
import { type Encoding, encodingOf, mediaTypes } from './encoding.ts';
import { otlpError, renderFailure } from './export-failure.ts';
import { renderResult } from './export-result.ts';
import { readEvents } from './read-events.ts';
import { eventBytes, recordEvents } from './record-events.ts';

const folder = '/otlp';
const tracesPath = '/v1/traces';

/**
 * Mounts `POST /otlp/v1/traces`, the receiver of OTLP/HTTP
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp). It is not an endpoint of the specification: its bodies, its
 * responses and its errors are those of OTLP.
 */
export async function mountTraces(app: FastifyInstance, services: Services, metrics: Metrics): Promise<void> {
  const { ingest, traceMemory, requestGate } = services;
  await app.register(
    async (otlp) => {
      otlp.removeAllContentTypeParsers();
      otlp.addContentTypeParser(Object.values(mediaTypes), { parseAs: 'buffer' }, (_request, bytes, done) =>
        done(null, bytes),
      );
      otlp.setErrorHandler((error: Error, request, reply) => {
        const failure = reportedError(otlpError(error), request, reply, metrics);
        const encoding = encodingOf(request.headers['content-type']) ?? 'json';
        return send(
          reply.headers(failure.headers),
          failure.status,
          encoding,
          renderFailure(encoding, failure),
        );
      });
      otlp.setNotFoundHandler(unknownRouteHandler([{ method: 'POST', path: folder + tracesPath }]));
      otlp.post(tracesPath, {
        bodyLimit: maxBodyBytes,
        onRequest: requestGate.hook({
          check: (caller) => {
            requireScope(caller, 'ingest');
            ingest.requireQueueSpace();
          },
          memory: traceMemory,
          maxBodyBytes,
        }),
        preParsing: async ({ headers }) => {
          // Before the body is read: another coding than gzip is refused.
          isGzip(headers['content-encoding']);
        },
        handler: (request, reply) => recordSpans(services, metrics, request, reply),
      });
    },
    { prefix: folder },
  );
}

async function recordSpans(
  services: Services,
  metrics: Metrics,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { caller } = request;
  if (!caller) throw new Error('The request was not authenticated.');
  const encoding = encodingOf(request.headers['content-type']) ?? 'protobuf';
  const { records, unread } = await readEvents(services, caller.tenantId, encoding, request);
  request.body = undefined;
  request.bodyMemory?.resize(records.length * eventBytes);
  await services.keyAgents.admit(caller, new Set(records.map(({ event }) => event.agentId)));
  const warnings = await recordEvents(services.ingest, caller.tenantId, records);
  releaseBody(request);
  services.unreadSpans.add(caller.tenantId, unread);
  metrics.unreadSpans(unread);
  return send(reply, 200, encoding, renderResult(encoding, { unread, warnings }));
}

function send(reply: FastifyReply, status: number, encoding: Encoding, body: Buffer): FastifyReply {
  return reply.code(status).header('content-type', mediaTypes[encoding]).send(body);
}
