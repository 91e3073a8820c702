import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/** Error thrown when the caller's `signal` aborts the call (`ABORTED`). `cause` is the signal's reason. */
export class APIAbortError extends ActlogError {
  static {
    brandError(APIAbortError, 'APIAbortError');
  }

  constructor(message: string, context: ErrorContext) {
    super(message, 'ABORTED', context);
  }
}
