import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * There is no such record, or no such endpoint (`NOT_FOUND`, 404). A record of another tenant answers the same.
 */
export class NotFoundError extends APIError {
  static {
    brandError(NotFoundError, 'NotFoundError');
  }
}
