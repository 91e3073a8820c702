import { brandError } from './actlog-error.ts';
import { APIConnectionError, type ConnectionErrorContext } from './api-connection-error.ts';

/**
 * Error thrown when no complete response arrives within `timeoutMs`, or when `deadlineMs` is exceeded (`TIMEOUT`). The
 * time limit includes the body, so a response that starts in time but is too slow also fails.
 */
export class APITimeoutError extends APIConnectionError {
  static {
    brandError(APITimeoutError, 'APITimeoutError');
  }

  constructor(message: string, context: ConnectionErrorContext) {
    super(message, context, 'TIMEOUT');
  }
}
