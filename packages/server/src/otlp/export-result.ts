import { warningView } from '@actlog/policy';
import type { ErrorCode, WarningCode } from '@actlog/protocol';
import type { FastifyError } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import { recordedReasons, type UnreadSpans, unreadReasons } from '../observability/unread-spans.ts';
import { tooLarge } from './encoded-span.ts';
import { badRequest, exportResponse, status } from './request-shape.ts';

/** Outcome of a request whose other spans were recorded or ignored. */
export interface ExportResult {
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
export function renderResult(encoding: Encoding, { unread, warnings }: ExportResult): Buffer {
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
export function otlpError(error: Error): Error {
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
export function renderFailure(encoding: Encoding, { code, message, details }: ApiError): Buffer {
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
export type Encoding = 'json' | 'protobuf';

/** Media types of the encodings. */
export const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
};

/** Returns the encoding of a request's content type; undefined for any other type. */
export function encodingOf(contentType: string | undefined): Encoding | undefined {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType === mediaTypes.json) return 'json';
  return mediaType === mediaTypes.protobuf ? 'protobuf' : undefined;
}
