import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * The service failed (500 and other 5xx). It is not repeated: the specification names 502, 503 and 504 only.
 */
export class InternalServerError extends APIError {
  static {
    brandError(InternalServerError, 'InternalServerError');
  }
}
