import { ActlogError, type ActlogErrorCode, brandError, type ErrorContext } from './actlog-error.ts';

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

/** Error thrown when the API key is valid but lacks the scope that the endpoint requires (`PERMISSION_DENIED`, 403). */
export class PermissionDeniedError extends APIError {
  static {
    brandError(PermissionDeniedError, 'PermissionDeniedError');
  }
}

/** Error thrown when the service, or a gateway in front of it, is unavailable (502, 503 or 504), after all retries. */
export class ServiceUnavailableError extends APIError {
  static {
    brandError(ServiceUnavailableError, 'ServiceUnavailableError');
  }
}

/**
 * Error thrown when the API key is missing, wrong or revoked (`AUTHENTICATION_FAILED`, 401). Retrying with the same key
 * does not help.
 */
export class AuthenticationError extends APIError {
  static {
    brandError(AuthenticationError, 'AuthenticationError');
  }
}

/**
 * Error thrown when the request conflicts with the current state (409): an id is taken, an action is already decided or
 * expired, or a policy is archived. See `code`.
 */
export class ConflictError extends APIError {
  static {
    brandError(ConflictError, 'ConflictError');
  }
}

/**
 * Error thrown when the service fails (500 and other 5xx). Not retried, because the specification retries only 502, 503
 * and 504.
 */
export class InternalServerError extends APIError {
  static {
    brandError(InternalServerError, 'InternalServerError');
  }
}

/**
 * Error thrown when the record or the endpoint does not exist (`NOT_FOUND`, 404). Records of other tenants give the
 * same error.
 */
export class NotFoundError extends APIError {
  static {
    brandError(NotFoundError, 'NotFoundError');
  }
}

/**
 * Error thrown when the rate limit of the key or a quota of the tenant is exceeded (429). `retryAfterMs` is the delay
 * that the service requests. Thrown at once if that exceeds `maxRetryAfterMs`, otherwise after the last retry.
 */
export class RateLimitError extends APIError {
  static {
    brandError(RateLimitError, 'RateLimitError');
  }
}

/**
 * Error thrown when the request fails validation (`VALIDATION_ERROR`, 400 in the reference profile). `details` lists
 * the findings.
 */
export class ValidationError extends APIError {
  static {
    brandError(ValidationError, 'ValidationError');
  }
}
