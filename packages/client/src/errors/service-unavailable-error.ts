import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/** Error thrown when the service, or a gateway in front of it, is unavailable (502, 503 or 504), after all retries. */
export class ServiceUnavailableError extends APIError {
  static {
    brandError(ServiceUnavailableError, 'ServiceUnavailableError');
  }
}
