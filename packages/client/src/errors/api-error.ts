import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';
import type { ActlogErrorCode } from './error-code.ts';

/** Details of an error response. */
export interface APIErrorContext extends ErrorContext {
  /** HTTP status of the response. */
  readonly status: number;
  /** `error.details` of the envelope. */
  readonly details?: readonly unknown[] | undefined;
  /** Headers of the response. */
  readonly headers?: Headers | undefined;
  /** Body of the response. */
  readonly body?: unknown;
}

/**
 * Error thrown for an error response (specification, "Errors"). Common statuses have subclasses; this class itself
 * covers the rest, such as 405 or 413. `code` is the envelope's `error.code`, or `HTTP_<status>` if the response has no
 * envelope (an HTML page of a gateway, an empty or broken body).
 */
export class APIError extends ActlogError {
  declare readonly status: number;
  /** `error.details` of the envelope, unchanged; empty if there are none. Not shown when the error is printed. */
  declare readonly details: readonly unknown[];
  /** Headers of the response. Not shown when the error is printed. */
  declare readonly headers: Headers | undefined;
  /**
   * Body of the response: parsed if it is JSON, otherwise its text; undefined if it is empty or was cut off. With it, the
   * error of a service or gateway that knows no envelope can be read. Not shown when the error is printed.
   */
  declare readonly body: unknown;

  static {
    brandError(APIError, 'APIError');
  }

  constructor(message: string, code: ActlogErrorCode, context: APIErrorContext) {
    super(message, code, context);
    Object.defineProperty(this, 'details', { value: context.details ?? [] });
    Object.defineProperty(this, 'headers', { value: context.headers });
    Object.defineProperty(this, 'body', { value: context.body });
  }
}
