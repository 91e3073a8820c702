/** Marks the prototypes of our errors, under a name that every copy of this package shares. */
const brand: unique symbol = Symbol.for('@actlog/client/error') as never;

/** What is known about the request that an error belongs to. */
export interface ErrorContext {
  /** HTTP method of the request. */
  readonly method?: string | undefined;
  /** Path of the request, without its query. */
  readonly path?: string | undefined;
  /** HTTP status of the answer, where there was one. */
  readonly status?: number | undefined;
  /** The answer's `x-request-id`: names the request in the server's logs. */
  readonly requestId?: string | undefined;
  /** How many times the request was tried. */
  readonly attempts?: number | undefined;
  /** What the answer's `Retry-After` asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The error underneath. */
  readonly cause?: unknown;
}

/**
 * The base of every error that this package throws.
 *
 * `instanceof` recognises errors of other copies of this package too (two versions in one tree, a bundle beside
 * an installation), because classes are told apart by a registered symbol. Printing an error shows neither the
 * API key nor a body.
 */
export class ActlogError extends Error {
  /** Stable, machine-readable code: the service's own, or one of this package such as `TIMEOUT`. */
  readonly code: string;
  /** HTTP status of the answer, where there was one. */
  declare readonly status?: number;
  /** HTTP method of the request. */
  declare readonly method?: string;
  /** Path of the request, without its query. */
  declare readonly path?: string;
  /** The answer's `x-request-id`: names the request in the server's logs. */
  declare readonly requestId?: string;
  /** How many times the request was tried. */
  declare readonly attempts?: number;
  /** What the answer's `Retry-After` asked for, in milliseconds; present also when the client would not wait. */
  declare readonly retryAfterMs?: number;

  static {
    brandError(ActlogError, 'ActlogError');
  }

  constructor(message: string, code: string, context: ErrorContext = {}) {
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
      // A field without a value is left out, so that a printed error shows only what is known.
      if (value !== undefined) Object.defineProperty(this, field, { value, enumerable: true });
    }
  }

  /** Recognises the error across copies of this package; a subclass of your own is recognised as usual. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: here `this` is the class that the question is about
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
 * Gives an error class its name, which survives minifying, and its mark, by which other copies know it.
 *
 * @internal
 */
export function brandError(errorClass: { readonly prototype: Error }, kind: string): void {
  Object.defineProperty(errorClass, 'name', { value: kind, configurable: true });
  Object.defineProperty(errorClass.prototype, brand, { value: kind });
  Object.defineProperty(errorClass.prototype, 'name', { value: kind, writable: true, configurable: true });
}
