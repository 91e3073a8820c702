import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

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
