import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { warningView } from '@actlog/policy';
import { type ErrorCode, headers, type WarningCode } from '@actlog/protocol';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reportedError, unknownRouteHandler } from '../http/errors.ts';
import type { RequestMemory } from '../http/limits/request-memory.ts';
import { type RequestGate, requireScope } from '../http/request-gate.ts';
import { releaseBody } from '../http/request-input.ts';
import type { GroupCommit } from '../ingest/group-commit.ts';
import { ApiError, validationError } from '../lib/api-error.ts';
import type { TenantTurns } from '../lib/tenant-turns.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  recordedReasons,
  type UnreadSpans,
  type UnreadSpansOfTenants,
  unreadReasons,
} from '../observability/unread-spans.ts';
import type { KeyAgents } from '../tenants/key-ring.ts';
import type { VerifiedCallers } from '../tenants/verified-callers.ts';
import { jsonSpans, protobufSpans } from './decode-spans.ts';
import { DecodingMemory, maxBodyBytes, maxDecodedBytes, tooLarge } from './encoded-span.ts';
import { badRequest, exportResponse, status } from './request-shape.ts';
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

/** Outcome of a request whose other spans were recorded or ignored. */
interface ExportResult {
  /** Tool spans that are not, or not wholly, understood. */
  readonly unread: readonly UnreadSpans[];
  /** Number of events by warning. */
  readonly warnings: ReadonlyMap<WarningCode, number>;
}

/** Warnings that an exporter should not report again and again: every agent begins so. */
const silentWarnings: readonly WarningCode[] = ['AGENT_NOT_REGISTERED'];

/** Maximum number of scopes and reasons in a message. */
const maxProblems = 20;

/**
 * Renders the `ExportTraceServiceResponse`. Its `partialSuccess` says which spans were not understood, and has the
 * warnings of the events; it is omitted if there are neither (OTLP specification, "Partial Success").
 */
function renderResult(encoding: Encoding, { unread, warnings }: ExportResult): Buffer {
  const problems = unread.slice(0, maxProblems).map(problemText);
  const notes = [...warnings]
    .filter(([code]) => !silentWarnings.includes(code))
    .map(([code, count]) => `Warning ${code} for ${count} of the events: ${warningView(code).message}`);
  const errorMessage = [...problems, ...notes].join(' ');
  const rejectedSpans = unread
    .filter(({ reason }) => !recordedReasons.has(reason))
    .reduce((sum, { count }) => sum + count, 0);
  if (encoding === 'json') {
    // In JSON, 64-bit integers are strings.
    const partialSuccess = { rejectedSpans: String(rejectedSpans), errorMessage };
    return Buffer.from(JSON.stringify(errorMessage === '' ? {} : { partialSuccess }));
  }
  const message = errorMessage === '' ? {} : { partialSuccess: { rejectedSpans, errorMessage } };
  return Buffer.from(exportResponse.encode(message).finish());
}

function problemText({ scope, reason, count }: UnreadSpans): string {
  const problem = recordedReasons.has(reason) ? 'recorded without a hash of the arguments' : 'not recorded';
  return `Tool spans of ${scope} ${problem}: ${count}, because ${unreadReasons[reason]}.`;
}

/** Numbers of `google.rpc.Code`. */
const invalidArgument = 3;
const unknown = 2;
const rpcCodes: Partial<Record<ErrorCode, number>> = {
  VALIDATION_ERROR: invalidArgument,
  UNSUPPORTED_MEDIA_TYPE: invalidArgument,
  PAYLOAD_TOO_LARGE: invalidArgument,
  PERMISSION_DENIED: 7,
  RATE_LIMITED: 8,
  INTERNAL: 13,
  OVERLOADED: 14,
  AUTHENTICATION_FAILED: 16,
};

const badRequestType = 'type.googleapis.com/google.rpc.BadRequest';

/** Returns the error that says the same as one of Fastify's, in terms of OTLP; any other error as it is. */
function otlpError(error: Error): Error {
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge('The body is larger than 20 MiB');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return new ApiError(
        'UNSUPPORTED_MEDIA_TYPE',
        'The body must be OTLP in protobuf or JSON; send Content-Type: application/x-protobuf or application/json.',
      );
  }
  return error;
}

/** Renders an error as a `google.rpc.Status` (OTLP specification, "Failures"). */
function renderFailure(encoding: Encoding, { code, message, details }: ApiError): Buffer {
  const rpcCode = rpcCodes[code] ?? unknown;
  const fieldViolations = details?.map(({ path, message: description }) => ({ field: path, description }));
  if (encoding === 'json') {
    const any = fieldViolations && [{ '@type': badRequestType, fieldViolations }];
    return Buffer.from(JSON.stringify({ code: rpcCode, message, ...(any && { details: any }) }));
  }
  const any = fieldViolations && [
    { type_url: badRequestType, value: badRequest.encode({ fieldViolations }).finish() },
  ];
  return Buffer.from(status.encode({ code: rpcCode, message, ...(any && { details: any }) }).finish());
}

/** Encoding of a request and its response (OTLP specification, "OTLP/HTTP"). */
type Encoding = 'json' | 'protobuf';

/** Media types of the encodings. */
const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
};

/** Returns the encoding of a request's content type; undefined for any other type. */
function encodingOf(contentType: string | undefined): Encoding | undefined {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType === mediaTypes.json) return 'json';
  return mediaType === mediaTypes.protobuf ? 'protobuf' : undefined;
}
