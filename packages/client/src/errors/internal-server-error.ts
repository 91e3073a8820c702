import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * Error thrown when the service fails (500 and other 5xx). Not retried, because the specification retries only 502, 503
 * and 504.
 */
export class InternalServerError extends APIError {
  static {
    brandError(InternalServerError, 'InternalServerError');
  }
}
