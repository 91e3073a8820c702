import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/**
 * The service answered with success, and the answer is not what the specification says: no JSON, no object, a page
 * without an array, a cursor that repeats, more bytes than `maxResponseBytes` (`RESPONSE_SHAPE`). It is not repeated,
 * because the request was carried out.
 */
export class ResponseShapeError extends ActlogError {
  static {
    brandError(ResponseShapeError, 'ResponseShapeError');
  }

  constructor(message: string, context: ErrorContext = {}) {
    super(message, 'RESPONSE_SHAPE', context);
  }
}
