import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * The API key is missing, wrong or revoked (`AUTHENTICATION_FAILED`, 401). Asking again with the same key does not
 * help.
 */
export class AuthenticationError extends APIError {
  static {
    brandError(AuthenticationError, 'AuthenticationError');
  }
}
