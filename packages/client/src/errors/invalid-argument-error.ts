import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/**
 * Error thrown when an option of the client or an argument of a call is invalid (`INVALID_ARGUMENT`). The message names
 * the field, the problem and the fix. Nothing was sent.
 */
export class InvalidArgumentError extends ActlogError {
  static {
    brandError(InvalidArgumentError, 'InvalidArgumentError');
  }

  constructor(message: string, context: ErrorContext = {}) {
    super(message, 'INVALID_ARGUMENT', context);
  }
}
