import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * The service or a gateway before it cannot answer now (502, 503 or 504), also after the retries.
 */
export class ServiceUnavailableError extends APIError {
  static {
    brandError(ServiceUnavailableError, 'ServiceUnavailableError');
  }
}
