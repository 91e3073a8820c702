import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/** The caller's `signal` aborted the call (`ABORTED`). `cause` is the signal's reason. */
export class APIAbortError extends ActlogError {
  static {
    brandError(APIAbortError, 'APIAbortError');
  }

  constructor(message: string, context: ErrorContext) {
    super(message, 'ABORTED', context);
  }
}
