import { ActlogError, brandError, type ErrorContext } from './actlog-error.ts';

/** How a connection failed. */
export interface ConnectionErrorContext extends ErrorContext {
  /** Whether the request may have reached the service. */
  readonly maybeSent: boolean;
}

/**
 * No whole answer came: the address does not resolve, the connection is refused, or it broke. `code` is
 * `CONNECTION_FAILED`, or `TLS_FAILED` where the certificate is not trusted; `cause` is the platform's own error.
 */
export class APIConnectionError extends ActlogError {
  /**
   * False where the request surely never left, so that sending it again is harmless; true where the service may
   * have acted on it.
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
