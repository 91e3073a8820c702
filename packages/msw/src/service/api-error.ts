import { invalidRequest, notFoundRefusal, type Refusal } from '@actlog/policy';
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

/** Returns the error that sends a refusal of the service's rules. */
export function refusalError({ code, message, details }: Refusal): ApiError {
  return new ApiError(code, message, { ...(details && { details }) });
}

/**
 * Creates an error for one problem of a request; `path` names the field and is empty for the request as a
 * whole.
 */
export function invalid(path: string, code: string, message: string): ApiError {
  return refusalError(invalidRequest(path, code, message));
}

/** Creates an error for a missing record; a record of another tenant gets the same error. */
export function notFound(what: string): ApiError {
  return refusalError(notFoundRefusal(what));
}
