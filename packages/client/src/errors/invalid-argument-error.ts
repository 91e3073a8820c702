import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/**
 * Error thrown when a webhook delivery cannot be verified: a header is missing, it is too old or too new, no signature
 * matches, or the body is not an event (`WEBHOOK_VERIFICATION`). Respond with status 400 and ignore the delivery.
 */
export class WebhookVerificationError extends ActlogError {
  static {
    brandError(WebhookVerificationError, 'WebhookVerificationError');
  }

  constructor(message: string, cause?: unknown) {
    super(message, 'WEBHOOK_VERIFICATION', { cause });
  }
}

/**
 * Error thrown when an exported session does not match its own `contentSha256` or `eventCount` (`EXPORT_INTEGRITY`). No
 * file is left behind.
 */
export class ExportIntegrityError extends ActlogError {
  static {
    brandError(ExportIntegrityError, 'ExportIntegrityError');
  }

  constructor(message: string, context: ErrorContext = {}) {
    super(message, 'EXPORT_INTEGRITY', context);
  }
}

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
