import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/**
 * Error thrown when a successful response does not match the specification: not JSON, not an object, a page without an
 * array, a repeated cursor, or more bytes than `maxResponseBytes` (`RESPONSE_SHAPE`). Not retried, because the service
 * has processed the request.
 */
export class ResponseShapeError extends ActlogError {
  static {
    brandError(ResponseShapeError, 'ResponseShapeError');
  }

  constructor(message: string, context: ErrorContext = {}) {
    super(message, 'RESPONSE_SHAPE', context);
  }
}
