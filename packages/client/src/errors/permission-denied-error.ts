import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * The API key is valid and lacks the scope that the endpoint needs (`PERMISSION_DENIED`, 403).
 */
export class PermissionDeniedError extends APIError {
  static {
    brandError(PermissionDeniedError, 'PermissionDeniedError');
  }
}
