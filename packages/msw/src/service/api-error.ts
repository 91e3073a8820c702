import { type ErrorCode, type ErrorDetail, errorCodes } from '@actlog/protocol';

/** Error response of the mock, in the envelope of the specification ("Errors"). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    also: { details?: readonly ErrorDetail[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.code = code;
    this.details = also.details;
    this.headers = also.headers ?? {};
  }

  /** Status and body of the response. */
  get response(): { readonly status: number; readonly body: unknown } {
    const { code, message, details } = this;
    return { status: errorCodes[code], body: { error: { code, message, ...(details && { details }) } } };
  }
}

/**
 * Creates an error for one problem of a request; `path` names the field and is empty for the request as a
 * whole.
 */
export function invalid(path: string, code: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `${path === '' ? 'The request' : `${path}:`} ${message}.`, {
    details: [{ path, code, message }],
  });
}

/** Creates an error for a missing record; a record of another tenant gets the same error. */
export function notFound(what: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no such ${what}.`);
}
