import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/** What an error answer carries beyond the request it belongs to. */
export interface APIErrorContext extends ErrorContext {
  /** HTTP status of the answer. */
  readonly status: number;
  /** `error.details` of the envelope. */
  readonly details?: readonly unknown[] | undefined;
  /** Headers of the answer. */
  readonly headers?: Headers | undefined;
}

/**
 * The service answered with an error (specification, "Errors"). Subclasses name the common ones; this class
 * itself stands for the rest, such as 405 or 413. `code` is the envelope's `error.code`, or `HTTP_<status>` where
 * the answer was no envelope (an HTML page of a gateway, an empty or a broken body).
 */
export class APIError extends ActlogError {
  declare readonly status: number;
  /** `error.details` of the envelope, as they came; empty where there were none. Not shown by printing. */
  declare readonly details: readonly unknown[];
  /** Headers of the answer. Not shown by printing. */
  declare readonly headers: Headers | undefined;

  static {
    brandError(APIError, 'APIError');
  }

  constructor(message: string, code: string, context: APIErrorContext) {
    super(message, code, context);
    Object.defineProperty(this, 'details', { value: context.details ?? [] });
    Object.defineProperty(this, 'headers', { value: context.headers });
  }
}
