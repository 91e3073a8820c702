import { invalidRequest, notFoundRefusal, type Refusal, unknownEndpoint } from '@actlog/policy';
import { type ErrorCode, type ErrorDetail, errorCodes, headers } from '@actlog/protocol';
import type * as z from 'zod';

/** Options for an {@link ApiError}. */
export interface ApiErrorOptions extends ErrorOptions {
  /** Findings about the request: path, code and message. */
  readonly details?: readonly ErrorDetail[];
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
  /** More response headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Error that is sent to the caller, in the error envelope of the specification ("Errors"). */
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

  /** Response body. */
  get envelope(): { error: { code: ErrorCode; message: string; details?: readonly ErrorDetail[] } } {
    return {
      error: { code: this.code, message: this.message, ...(this.details && { details: this.details }) },
    };
  }
}

/** Returns the error that sends a refusal of the service's rules. */
export function refusalError({ code, message, details }: Refusal, options: ErrorOptions = {}): ApiError {
  return new ApiError(code, message, { ...options, ...(details && { details }) });
}

/** Returns the error of a request that fails validation, with one finding. `message` has no period. */
export function validationError(path: string, code: string, message: string): ApiError {
  return refusalError(invalidRequest(path, code, message));
}

/** Returns the error for an unknown path, such as one with an empty identifier. */
export function noSuchEndpoint(): ApiError {
  return refusalError(unknownEndpoint);
}

/** Returns the error for a resource that does not exist or belongs to another tenant; the two are indistinguishable. */
export function notFound(what: string): ApiError {
  return refusalError(notFoundRefusal(what));
}

/** Returns an error that names each invalid option and the reason, without any values. */
export function optionsError(owner: string, { issues }: z.ZodError): TypeError {
  const problems = issues.map(({ path, message }) => `  ${path.join('.') || 'options'}: ${message}`);
  return new TypeError(`${owner} options are not valid:\n${problems.join('\n')}`);
}
