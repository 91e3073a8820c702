import { brandError } from './actlog-error.ts';
import { APIConnectionError, type ConnectionErrorContext } from './api-connection-error.ts';

/**
 * No whole answer came within `timeoutMs`, or the call's `deadlineMs` ran out (`TIMEOUT`). The time covers the body:
 * an answer that starts in time and then drips ends here too.
 */
export class APITimeoutError extends APIConnectionError {
  static {
    brandError(APITimeoutError, 'APITimeoutError');
  }

  constructor(message: string, context: ConnectionErrorContext) {
    super(message, context, 'TIMEOUT');
  }
}
