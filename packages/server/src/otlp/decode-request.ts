import { isUtf8 } from 'node:buffer';
import { inspectJson } from '../http/json-shape.ts';
import { type ApiError, validationError } from '../lib/api-error.ts';
import type { Encoding } from './encoding.ts';
import { exportRequest } from './messages.ts';

/** Maximum nesting of a JSON body. Each level of a structured attribute takes four; protobuf allows about as much. */
const maxJsonDepth = 128;

/**
 * Decodes an `ExportTraceServiceRequest`. Both encodings result in objects with the same names, of which nothing else is
 * certain: ids are bytes or hexadecimal digits, and 64-bit integers are objects, numbers or decimal digits.
 *
 * @throws ApiError `VALIDATION_ERROR` when the bytes are not of the encoding. Its message quotes nothing of them.
 */
export function decodeRequest(encoding: Encoding, bytes: Buffer): unknown {
  if (encoding === 'protobuf') {
    try {
      return exportRequest.decode(bytes);
    } catch {
      throw notProtobuf();
    }
  }
  if (!isUtf8(bytes)) throw notJson('is not UTF-8');
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw notJson('is not JSON');
  }
  const { problem } = inspectJson(body, maxJsonDepth);
  if (problem !== undefined) throw validationError('', 'invalid_json', `has a body that ${problem}`);
  return body;
}

/** Returns the error of a body that is not an encoded request. */
export function notProtobuf(): ApiError {
  return validationError(
    '',
    'invalid_protobuf',
    'has a body that is not an ExportTraceServiceRequest in protobuf',
  );
}

function notJson(problem: string): ApiError {
  return validationError('', 'invalid_json', `has a body that ${problem}, although Content-Type says so`);
}
