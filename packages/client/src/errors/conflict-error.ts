import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * The request contradicts the present state (409): an id is taken, an action was decided or has expired, a policy is
 * archived. `code` says which.
 */
export class ConflictError extends APIError {
  static {
    brandError(ConflictError, 'ConflictError');
  }
}
