import { type ErrorCode, type ErrorDetail, errorCodes } from '@actlog/protocol';

/** An error that the mock answers with, in the envelope of the specification ("Errors"). */
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

  /** The answer's status and body. */
  get answer(): { readonly status: number; readonly body: unknown } {
    const { code, message, details } = this;
    return { status: errorCodes[code], body: { error: { code, message, ...(details && { details }) } } };
  }
}

/** A request with one thing wrong; `path` names it, and is empty for the request as a whole. */
export function invalid(path: string, code: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `${path === '' ? 'The request' : `${path}:`} ${message}.`, {
    details: [{ path, code, message }],
  });
}

/** What is not there, or is another tenant's: both are answered alike. */
export function notFound(what: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no such ${what}.`);
}
