import { type EndpointName, type ErrorCode, endpointNames, errorCodes, headers } from '@actlog/protocol';
import { type HttpHandler, http } from 'msw';
import { ApiError } from '../service/api-error.ts';
import { responseHeaders } from '../service/call.ts';
import { endpointOf, type MockService, pathBelow } from '../service/mock-service.ts';

/** Options of `rateLimited`. */
export interface RateLimitedOptions extends FaultOptions {
  /** Seconds in the Retry-After header. Default: 1. */
  readonly retryAfter?: number | undefined;
}

/** Options of `down`. */
export interface DownOptions extends FaultOptions {
  /** Status of the gateway. Default: 503. */
  readonly status?: 502 | 503 | 504 | undefined;
  /** Seconds in a Retry-After header. Default: no header. */
  readonly retryAfter?: number | undefined;
}

/** Options of `slow`. */
export interface SlowOptions extends FaultOptions {
  /**
   * Delay before the request is handled, in milliseconds. Default: 3,000. Uses the test's timers, including
   * fake ones.
   */
  readonly delayMs?: number | undefined;
}

/** Options of `failing`. */
export interface FailingOptions extends FaultOptions {
  /** Code in the envelope; it determines the status. Default: `INTERNAL`. */
  readonly code?: ErrorCode | undefined;
  /** Message in the envelope. */
  readonly message?: string | undefined;
}

/** One-line faults for `server.use()` or `worker.use()`. */
export interface Faults {
  /** Returns 429 with Retry-After (specification, "Limits"). */
  rateLimited(options?: RateLimitedOptions): HttpHandler;
  /**
   * Returns 502, 503 or 504 with an HTML page instead of the envelope, like a gateway without a service
   * behind it.
   */
  down(options?: DownOptions): HttpHandler;
  /** Delays the request, then handles it normally. */
  slow(options?: SlowOptions): HttpHandler;
  /** Returns an error in the envelope of the specification ("Errors"). */
  failing(options?: FailingOptions): HttpHandler;
  /**
   * Refuses the connection: the request is not handled. `fetch` cannot distinguish this from `responseLost`.
   */
  unreachable(options?: FaultOptions): HttpHandler;
  /** Handles the request and breaks the connection before the response. */
  responseLost(options?: FaultOptions): HttpHandler;
}

/** Callback for each request that a fault has responded to. */
export type NoteResponse = (request: Request, endpoint: EndpointName | undefined, status: number) => void;

/** Creates the faults of one mock. */
export function faultsOf(baseURL: string, service: MockService, note: NoteResponse): Faults {
  const handle = (options: FaultOptions, respond: (request: Request) => Promise<Response> | Response) => {
    const damage: Damage = async (request, endpoint) => {
      const response = await respond(request);
      note(request, endpoint, response.status);
      return response;
    };
    return fault(baseURL, options, damage);
  };
  const wait = (seconds: number | undefined) => {
    const value = wholeNumber('retryAfter', seconds, 0);
    return value === undefined ? {} : { [headers.retryAfter]: String(value) };
  };
  return {
    rateLimited({ retryAfter = 1, ...options } = {}) {
      const message = 'The rate limit of the API key is exceeded.';
      const also = wait(retryAfter);
      return handle(options, () => envelope('RATE_LIMITED', message, also));
    },
    down({ status = 503, retryAfter, ...options } = {}) {
      const init = { status, headers: { [headers.contentType]: 'text/html', ...wait(retryAfter) } };
      return handle(options, () => new Response(`<h1>${status}</h1>`, init));
    },
    slow({ delayMs = 3000, ...options } = {}) {
      const lateMs = wholeNumber('delayMs', delayMs, 0) ?? 0;
      return fault(baseURL, options, async ({ signal }) => {
        await pause(lateMs, signal);
        // A caller that aborted left before the request was handled.
        return signal.aborted ? Response.error() : undefined;
      });
    },
    failing({ code = 'INTERNAL', message = `The mock is set to fail with ${code}.`, ...options } = {}) {
      if (!Object.hasOwn(errorCodes, code)) {
        throw new TypeError(`unknown code "${code}"; use one of ${Object.keys(errorCodes).join(', ')}.`);
      }
      return handle(options, () => envelope(code, message, alwaysWith[code]));
    },
    unreachable: (options = {}) => handle(options, refusedConnection),
    responseLost: (options = {}) =>
      handle(options, async (request) => {
        await service.handle(request.clone());
        return Response.error();
      }),
  };
}

/** Headers that the service always sends with a code. */
const alwaysWith: { readonly [Code in ErrorCode]?: Readonly<Record<string, string>> } = {
  RATE_LIMITED: { [headers.retryAfter]: '1' },
  OVERLOADED: { [headers.retryAfter]: '1' },
  AUTHENTICATION_FAILED: { 'www-authenticate': 'Bearer' },
};

function envelope(code: ErrorCode, message: string, also: Readonly<Record<string, string>> = {}): Response {
  const { status, body } = new ApiError(code, message).response;
  const all = responseHeaders();
  for (const [name, value] of Object.entries(also)) all.set(name, value);
  return new Response(JSON.stringify(body), { status, headers: all });
}

/** Resolves after `delayMs` by the current timers, or when `signal` aborts. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

/** Options that select the requests of a fault. */
export interface FaultOptions {
  /** Endpoint or endpoints that have the fault. Default: all. */
  readonly endpoint?: EndpointName | readonly EndpointName[] | undefined;
  /** Number of requests that have the fault; later ones are handled normally. Default: all. */
  readonly times?: number | undefined;
}

/** Effect of a fault on a request: a response, or undefined to pass it on to the next handlers. */
type Damage = (request: Request, endpoint: EndpointName | undefined) => Promise<Response | undefined>;

/**
 * Creates the handler of a fault.
 *
 * @throws TypeError if an option is invalid.
 */
function fault(baseURL: string, { endpoint, times }: FaultOptions, damage: Damage): HttpHandler {
  const names = endpoint === undefined ? undefined : [endpoint].flat();
  const unknown = names?.find((name) => !endpointNames.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`unknown endpoint "${unknown}"; use one of ${endpointNames.join(', ')}.`);
  }
  let left = wholeNumber('times', times, 1) ?? Number.POSITIVE_INFINITY;
  const isMeant = ({ request }: { readonly request: Request }) => {
    if (pathBelow(baseURL, request.url) === undefined) return false;
    const name = endpointOf(baseURL, request);
    return names === undefined || (name !== undefined && names.includes(name));
  };
  return http.all(isMeant, async ({ request }) => {
    if (left <= 0) return undefined;
    left -= 1;
    return damage(request, endpointOf(baseURL, request));
  });
}

/**
 * Validates a count.
 *
 * @throws TypeError if it is not an integer of at least `minimum`.
 */
function wholeNumber(field: string, value: number | undefined, minimum: number): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= minimum)) return value;
  throw new TypeError(`${field} must be an integer of at least ${minimum}, got ${value}.`);
}

/** Marks a refused connection, in contrast to a broken one; shared by all copies of this package. */
const mark = Symbol.for('@actlog/msw.refused');

/** Returns a network error of a request that was never sent. */
function refusedConnection(): Response {
  return Object.assign(Response.error(), { [mark]: true });
}

/** `true` for a network error of a request that was never sent. */
export function isRefusedConnection(response: Response): boolean {
  return mark in response;
}
