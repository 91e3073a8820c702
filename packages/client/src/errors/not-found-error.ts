import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * Error thrown when the record or the endpoint does not exist (`NOT_FOUND`, 404). Records of other tenants give the
 * same error.
 */
export class NotFoundError extends APIError {
  static {
    brandError(NotFoundError, 'NotFoundError');
  }
}
