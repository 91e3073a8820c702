import type { ErrorCode } from '@actlog/protocol';
import type { FastifyError } from 'fastify';
import { ApiError } from '../lib/api-error.ts';
import type { Encoding } from './encoding.ts';
import { badRequest, status } from './messages.ts';
import { tooLarge } from './too-large.ts';

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
