import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/** Details of a failed connection. */
export interface ConnectionErrorContext extends ErrorContext {
  /** `true` if the request may have reached the service. */
  readonly maybeSent: boolean;
}

/**
 * Error thrown when no complete response arrives: the address does not resolve, or the connection is refused or breaks.
 * `code` is `CONNECTION_FAILED`, or `TLS_FAILED` for an untrusted certificate. `cause` is the platform's own error.
 */
export class APIConnectionError extends ActlogError {
  /**
   * `false` if the request certainly was not sent, so that sending it again is harmless; `true` if the service may have
   * processed it.
   */
  readonly maybeSent: boolean;

  static {
    brandError(APIConnectionError, 'APIConnectionError');
  }

  constructor(message: string, context: ConnectionErrorContext, code = 'CONNECTION_FAILED') {
    super(message, code, context);
    this.maybeSent = context.maybeSent;
  }
}
