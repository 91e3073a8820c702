import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/** Error thrown when the API key is valid but lacks the scope that the endpoint requires (`PERMISSION_DENIED`, 403). */
export class PermissionDeniedError extends APIError {
  static {
    brandError(PermissionDeniedError, 'PermissionDeniedError');
  }
}
