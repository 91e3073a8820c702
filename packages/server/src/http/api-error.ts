import { type ErrorCode, type ErrorDetail, errorCodes, headers } from '@actlog/protocol';

/** What an error says beside its code and message. */
export interface ApiErrorOptions extends ErrorOptions {
  /** Findings about the request: where, what kind, and what to do. */
  readonly details?: readonly ErrorDetail[];
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
  /** More response headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that the caller is told about, in the one envelope of the specification ("Errors"). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.details = options.details;
    this.headers = {
      ...options.headers,
      ...(options.retryAfterSeconds !== undefined && {
        [headers.retryAfter]: String(Math.max(1, Math.ceil(options.retryAfterSeconds))),
      }),
    };
  }

  /** HTTP status of the code. */
  get status(): number {
    return errorCodes[this.code];
  }

  /** The body of the answer. */
  get envelope(): { error: { code: ErrorCode; message: string; details?: readonly ErrorDetail[] } } {
    return {
      error: { code: this.code, message: this.message, ...(this.details && { details: this.details }) },
    };
  }
}

/** A request that fails validation, with one finding. */
export function validationError(path: string, code: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `${path === '' ? 'The request' : `${path}:`} ${message}`, {
    details: [{ path, code, message }],
  });
}

/** A path that is none, such as one of an endpoint with nothing where the identifier stands. */
export function noSuchEndpoint(): ApiError {
  return new ApiError('NOT_FOUND', 'There is no such endpoint; /openapi.json lists what there is.');
}

/** A resource that does not exist, or belongs to another tenant: both answer alike. */
export function notFound(what: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no such ${what}.`);
}
