import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * The rate limit of the key, or a quota of the tenant, is exceeded (429). `retryAfterMs` says how long the service asks
 * to wait; it is thrown at once when that is longer than `maxRetryAfterMs`, otherwise after the last retry.
 */
export class RateLimitError extends APIError {
  static {
    brandError(RateLimitError, 'RateLimitError');
  }
}
