import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { headers, type WarningCode } from '@actlog/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reportedError, unknownRouteHandler } from '../http/errors.ts';
import type { RequestMemory } from '../http/limits/request-memory.ts';
import { type RequestGate, requireScope } from '../http/request-gate.ts';
import { releaseBody } from '../http/request-input.ts';
import type { GroupCommit } from '../ingest/group-commit.ts';
import { ApiError, validationError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { UnreadSpansOfTenants } from '../observability/unread-spans.ts';
import type { KeyAgents } from '../tenants/key-ring.ts';
import type { VerifiedCallers } from '../tenants/verified-callers.ts';
import { jsonSpans, protobufSpans } from './decode-spans.ts';
import { DecodingMemory, maxBodyBytes, maxDecodedBytes, tooLarge } from './encoded-span.ts';
import {
  type Encoding,
  encodingOf,
  mediaTypes,
  otlpError,
  renderFailure,
  renderResult,
} from './export-result.ts';
import { type SpanEventRecord, type ToolSpanEvents, toolSpanEvents } from './tool-span-events.ts';

const gunzipAsync = promisify(gunzip);

/**
 * Checks the content coding of a request.
 *
 * @returns `true` if the body is compressed
 * @throws ApiError `UNSUPPORTED_MEDIA_TYPE` for another coding than gzip.
 */
function isGzip(contentEncoding: string | undefined): boolean {
  const coding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity') return false;
  if (coding === 'gzip') return true;
  throw new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The body may be compressed only by gzip; set OTEL_EXPORTER_OTLP_COMPRESSION=gzip or none.',
    { headers: { 'accept-encoding': 'gzip' } },
  );
}

/**
 * Decompresses a body outside the event loop. Stops at the limit, whatever the body would expand to.
 *
 * @throws ApiError `PAYLOAD_TOO_LARGE` beyond the limit, `VALIDATION_ERROR` when the body is not gzip.
 */
async function decompress(bytes: Buffer): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge('The body is larger than 20 MiB when decompressed');
    }
    throw validationError(
      '',
      'invalid_gzip',
      'has a body that is not gzip, although Content-Encoding says so',
    );
  }
}

const folder = '/otlp';
const tracesPath = '/v1/traces';

/** Parts that {@link mountTraces} uses. */
export interface TraceParts {
  /** Admits requests by their callers. */
  readonly requestGate: RequestGate;
  /** Agents that each key acts as. */
  readonly keyAgents: KeyAgents;
  readonly verifiedCallers: VerifiedCallers;
  /** Shares the event loop between the spans of tenants. */
  readonly tenantTurns: TenantTurns;
  /** Limits the memory of spans from their first byte until their events are stored. */
  readonly traceMemory: RequestMemory;
  readonly ingest: GroupCommit;
  /** Spans that were not understood. */
  readonly unreadSpans: UnreadSpansOfTenants;
  readonly metrics: Metrics;
}

/**
 * Mounts `POST /otlp/v1/traces`, the receiver of OTLP/HTTP
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp). It is not an endpoint of the specification: its bodies, its
 * responses and its errors are those of OTLP.
 */
export async function mountTraces(app: FastifyInstance, parts: TraceParts): Promise<void> {
  const { ingest, traceMemory, requestGate, metrics } = parts;
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
        handler: (request, reply) => recordSpans(parts, request, reply),
      });
    },
    { prefix: folder },
  );
}

async function recordSpans(
  parts: TraceParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { caller } = request;
  if (!caller) throw new Error('The request was not authenticated.');
  const encoding = encodingOf(request.headers['content-type']) ?? 'protobuf';
  const { records, unread } = await readEvents(parts, caller.tenantId, encoding, request);
  request.body = undefined;
  request.bodyMemory?.resize(records.length * eventBytes);
  const agentIds = new Set(records.map(({ event }) => event.agentId));
  const token = request.headers[headers.identity]?.toString();
  const isVerified = token !== undefined || caller.requiresIdentity;
  const verified = isVerified
    ? await parts.verifiedCallers.of(token, caller.requiresIdentity, agentIds)
    : undefined;
  const above = records.flatMap(({ parentAgentIds }) => parentAgentIds);
  await parts.keyAgents.admit(caller, agentIds, above);
  const identity = verified && JSON.stringify(verified.identity);
  const warnings = await recordEvents(parts.ingest, caller.tenantId, records, identity);
  releaseBody(request);
  parts.unreadSpans.add(caller.tenantId, unread);
  parts.metrics.unreadSpans(unread);
  return send(reply, 200, encoding, renderResult(encoding, { unread, warnings }));
}

function send(reply: FastifyReply, status: number, encoding: Encoding, body: Buffer): FastifyReply {
  return reply.code(status).header('content-type', mediaTypes[encoding]).send(body);
}

/** Events of one request that wait to be stored at the same time, so that it leaves room for others. */
const maxWaiting = 256;

/** Upper bound for the memory of an event of a span until it is stored, in bytes. */
const eventBytes: number = 2048;

/**
 * Records the events of a request, and resolves when all are durable.
 *
 * @returns number of events by warning
 * @throws QuotaError or ApiError `OVERLOADED` when an event cannot be stored. Others may be: they are not stored again
 *   when the request is repeated.
 */
async function recordEvents(
  ingest: GroupCommit,
  tenantId: number,
  records: readonly SpanEventRecord[],
  identity: string | undefined,
): Promise<ReadonlyMap<WarningCode, number>> {
  const warnings = new Map<WarningCode, number>();
  const receivedMs = Date.now();
  for (let from = 0; from < records.length; from += maxWaiting) {
    const outcomes = await Promise.allSettled(
      records
        .slice(from, from + maxWaiting)
        .map((record) =>
          ingest.record(tenantId, { ...record, receivedMs, protoKeysRemoved: false, identity }, eventBytes),
        ),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason;
      for (const code of outcome.value.warnings) warnings.set(code, (warnings.get(code) ?? 0) + 1);
    }
  }
  return warnings;
}

const noBytes = Buffer.alloc(0);

/**
 * Reads the events of a request's body in its tenant's turns, with memory reserved for each step.
 *
 * @throws ApiError `VALIDATION_ERROR` for a body that is not valid, `PAYLOAD_TOO_LARGE` for one beyond a limit,
 *   `OVERLOADED` when there is no memory for it. Nothing is recorded.
 */
async function readEvents(
  { tenantTurns, traceMemory }: Pick<TraceParts, 'tenantTurns' | 'traceMemory'>,
  tenantId: number,
  encoding: Encoding,
  request: FastifyRequest,
): Promise<ToolSpanEvents> {
  const sent = (request.body as Buffer | undefined) ?? noBytes;
  const bytes = isGzip(request.headers['content-encoding']) ? await decompressed(request, sent) : sent;
  tenantTurns.note(tenantId);
  return tenantTurns.run(tenantId, (turn) => {
    const maxBytes = Math.min(maxDecodedBytes, traceMemory.maxBytes);
    const memory = new DecodingMemory(maxBytes, (size) => request.bodyMemory?.resize(size));
    memory.hold(bytes.length);
    const spans = encoding === 'json' ? jsonSpans(bytes, memory, turn) : protobufSpans(bytes, memory);
    return toolSpanEvents(spans, turn);
  });
}

function decompressed(request: FastifyRequest, sent: Buffer): Promise<Buffer> {
  // The size is only known afterwards, because a body may claim any.
  request.bodyMemory?.resize(sent.length + maxBodyBytes);
  return decompress(sent);
}
