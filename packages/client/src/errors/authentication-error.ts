import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * Error thrown when the API key is missing, wrong or revoked (`AUTHENTICATION_FAILED`, 401). Retrying with the same key
 * does not help.
 */
export class AuthenticationError extends APIError {
  static {
    brandError(AuthenticationError, 'AuthenticationError');
  }
}
