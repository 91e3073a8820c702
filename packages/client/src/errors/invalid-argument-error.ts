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

/**
 * Creates the error for a value of the wrong kind, such as "timeoutMs must be a positive number of milliseconds, got
 * -1."
 *
 * @param expected Noun phrase for what the field must be.
 */
export function invalidValue(field: string, expected: string, value: unknown): InvalidArgumentError {
  return new InvalidArgumentError(`${field} must be ${expected}, got ${describeValue(value)}.`);
}

/** Describes a value for an error message: the value if it is a number, a string or null, otherwise its type. */
function describeValue(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  return typeof value === 'string' ? JSON.stringify(value) : typeof value;
}
