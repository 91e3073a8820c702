import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/**
 * An option of the client or an argument of a call cannot be used (`INVALID_ARGUMENT`). The message names the field,
 * what is wrong with its value, and the way out. Nothing was sent.
 */
export class InvalidArgumentError extends ActlogError {
  static {
    brandError(InvalidArgumentError, 'InvalidArgumentError');
  }

  constructor(message: string, context: ErrorContext = {}) {
    super(message, 'INVALID_ARGUMENT', context);
  }
}
