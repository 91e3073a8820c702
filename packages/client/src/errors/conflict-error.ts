import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * Error thrown when the request conflicts with the current state (409): an id is taken, an action is already decided or
 * expired, or a policy is archived. See `code`.
 */
export class ConflictError extends APIError {
  static {
    brandError(ConflictError, 'ConflictError');
  }
}
