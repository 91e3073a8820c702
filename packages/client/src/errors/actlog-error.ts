import type { ErrorCode } from '@actlog/protocol';

/** Symbol that marks the prototypes of this package's errors, shared by all copies of the package. */
const brand: unique symbol = Symbol.for('@actlog/client/error') as never;

/** Details of the request that an error belongs to. */
export interface ErrorContext {
  /** HTTP method of the request. */
  readonly method?: string | undefined;
  /** Path of the request, without its query. */
  readonly path?: string | undefined;
  /** HTTP status of the response, if there was one. */
  readonly status?: number | undefined;
  /** The response's `x-request-id`, which identifies the request in the server's logs. */
  readonly requestId?: string | undefined;
  /** Number of attempts made. */
  readonly attempts?: number | undefined;
  /** Delay from the response's `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The underlying error. */
  readonly cause?: unknown;
}

/**
 * Base class of all errors thrown by this package.
 *
 * `instanceof` also works for errors of other copies of this package (two versions in one dependency tree, a bundle
 * next to an installation), because classes are compared by a registered symbol. Printing an error shows neither the
 * API key nor a body.
 */
export class ActlogError extends Error {
  /** Stable, machine-readable code: the service's own, or one of this package such as `TIMEOUT`. */
  readonly code: ActlogErrorCode;
  /** HTTP status of the response, if there was one. */
  declare readonly status?: number;
  /** HTTP method of the request. */
  declare readonly method?: string;
  /** Path of the request, without its query. */
  declare readonly path?: string;
  /** The response's `x-request-id`, which identifies the request in the server's logs. */
  declare readonly requestId?: string;
  /** Number of attempts made. */
  declare readonly attempts?: number;
  /** Delay from the response's `Retry-After`, in milliseconds. Also set if the client did not wait for it. */
  declare readonly retryAfterMs?: number;

  static {
    brandError(ActlogError, 'ActlogError');
  }

  constructor(message: string, code: ActlogErrorCode, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    const { status, method, path, requestId, attempts, retryAfterMs } = context;
    for (const [field, value] of Object.entries({
      status,
      method,
      path,
      requestId,
      attempts,
      retryAfterMs,
    })) {
      // Omit fields without a value, so that a printed error shows only known fields.
      if (value !== undefined) Object.defineProperty(this, field, { value, enumerable: true });
    }
  }

  /** Recognizes errors of other copies of this package. User-defined subclasses use the default behavior. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: `this` is the class on the right of `instanceof`
    const kind: unknown = Object.getOwnPropertyDescriptor(this.prototype, brand)?.value;
    if (kind === undefined) return Function.prototype[Symbol.hasInstance].call(this, value);
    // biome-ignore-end lint/complexity/noThisInStatic: see above
    for (let at: unknown = value; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at)) {
      if (Object.getOwnPropertyDescriptor(at, brand)?.value === kind) return true;
    }
    return false;
  }
}

/**
 * Sets the name of an error class, so that it survives minification, and its brand, by which other copies recognize it.
 *
 * @internal
 */
export function brandError(errorClass: { readonly prototype: Error }, kind: string): void {
  Object.defineProperty(errorClass, 'name', { value: kind, configurable: true });
  Object.defineProperty(errorClass.prototype, brand, { value: kind });
  Object.defineProperty(errorClass.prototype, 'name', { value: kind, writable: true, configurable: true });
}

/**
 * Code of an error: one of this package, one of the reference profile, `HTTP_<status>` for a response without an error
 * envelope, or another code of the service. The known codes complete in an editor.
 */
export type ActlogErrorCode =
  | 'ABORTED'
  | 'CONNECTION_FAILED'
  | 'EXPORT_INTEGRITY'
  | 'INVALID_ARGUMENT'
  | 'RESPONSE_SHAPE'
  | 'TIMEOUT'
  | 'TLS_FAILED'
  | 'WEBHOOK_VERIFICATION'
  | ErrorCode
  | `HTTP_${number}`
  | (string & {});

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

/**
 * Error thrown when no complete response arrives within `timeoutMs`, or when `deadlineMs` is exceeded (`TIMEOUT`). The
 * time limit includes the body, so a response that starts in time but is too slow also fails.
 */
export class APITimeoutError extends APIConnectionError {
  static {
    brandError(APITimeoutError, 'APITimeoutError');
  }

  constructor(message: string, context: ConnectionErrorContext) {
    super(message, context, 'TIMEOUT');
  }
}

/** Error thrown when the caller's `signal` aborts the call (`ABORTED`). `cause` is the signal's reason. */
export class APIAbortError extends ActlogError {
  static {
    brandError(APIAbortError, 'APIAbortError');
  }

  constructor(message: string, context: ErrorContext) {
    super(message, 'ABORTED', context);
  }
}

/**
 * Error thrown when a successful response does not match the specification: not JSON, not an object, a page without an
 * array, a repeated cursor, or more bytes than `maxResponseBytes` (`RESPONSE_SHAPE`). Not retried, because the service
 * has processed the request.
 */
export class ResponseShapeError extends ActlogError {
  static {
    brandError(ResponseShapeError, 'ResponseShapeError');
  }

  constructor(message: string, context: ErrorContext = {}) {
    super(message, 'RESPONSE_SHAPE', context);
  }
}

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

/** Matches API keys of the service anywhere in a text. */
const keyPattern = /\bal_(live|test)_[^\s"'<>()]+/g;

/** Redacts API keys in a text from outside, before it is used in an error or a log line. */
export function redactKeys(text: string): string {
  return text.replace(keyPattern, 'al_$1_[redacted]');
}
