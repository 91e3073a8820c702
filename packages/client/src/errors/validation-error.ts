import { brandError } from './actlog-error.ts';
import { APIError } from './api-error.ts';

/**
 * Error thrown when the request fails validation (`VALIDATION_ERROR`, 400 in the reference profile). `details` lists
 * the findings.
 */
export class ValidationError extends APIError {
  static {
    brandError(ValidationError, 'ValidationError');
  }
}
