import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * Error thrown when the rate limit of the key or a quota of the tenant is exceeded (429). `retryAfterMs` is the delay
 * that the service asks for. Thrown at once if that exceeds `maxRetryAfterMs`, otherwise after the last retry.
 */
export class RateLimitError extends APIError {
  static {
    brandError(RateLimitError, 'RateLimitError');
  }
}
