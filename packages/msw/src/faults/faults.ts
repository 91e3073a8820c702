import { type EndpointName, type ErrorCode, errorCodes, headers } from '@actlog/protocol';
import type { HttpHandler } from 'msw';
import { answerHeaders } from '../service/answer-headers.ts';
import { ApiError } from '../service/api-error.ts';
import type { MockService } from '../service/mock-service.ts';
import { type Damage, type FaultOptions, fault, wholeNumber } from './fault.ts';
import { pause } from './pause.ts';
import { refusedConnection } from './refused-connection.ts';

/** Options of `rateLimited`. */
export interface RateLimitedOptions extends FaultOptions {
  /** Seconds in the Retry-After header. Default 1. */
  readonly retryAfter?: number | undefined;
}

/** Options of `down`. */
export interface DownOptions extends FaultOptions {
  /** What the gateway answers with. Default 503. */
  readonly status?: 502 | 503 | 504 | undefined;
  /** Seconds in a Retry-After header. Default: there is none. */
  readonly retryAfter?: number | undefined;
}

/** Options of `slow`. */
export interface SlowOptions extends FaultOptions {
  /** Milliseconds before the request is taken. Default 3,000. Runs on the timers of the test, faked ones too. */
  readonly delayMs?: number | undefined;
}

/** Options of `failing`. */
export interface FailingOptions extends FaultOptions {
  /** The code in the envelope, which has its own status. Default `INTERNAL`. */
  readonly code?: ErrorCode | undefined;
  /** The message in the envelope. */
  readonly message?: string | undefined;
}

/** Faults in one line each, to be given to `server.use()` or `worker.use()`. */
export interface Faults {
  /** 429 with Retry-After (specification, "Limits"). */
  rateLimited(options?: RateLimitedOptions): HttpHandler;
  /** A gateway that finds no service behind it: 502, 503 or 504, and a page instead of the envelope. */
  down(options?: DownOptions): HttpHandler;
  /** The request is taken late; then it is answered as ever. */
  slow(options?: SlowOptions): HttpHandler;
  /** An error in the envelope of the specification ("Errors"). */
  failing(options?: FailingOptions): HttpHandler;
  /** No connection: the request is not taken. A `fetch` cannot tell this from `answerLost`. */
  unreachable(options?: FaultOptions): HttpHandler;
  /** The request is taken, and the connection breaks before the answer is there. */
  answerLost(options?: FaultOptions): HttpHandler;
}

/** What a mock is told of a request that a fault has answered. */
export type NoteAnswer = (request: Request, endpoint: EndpointName | undefined, status: number) => void;

/** The faults of one mock. */
export function faultsOf(baseURL: string, service: MockService, note: NoteAnswer): Faults {
  const answered = (options: FaultOptions, answer: (request: Request) => Promise<Response> | Response) => {
    const damage: Damage = async (request, endpoint) => {
      const response = await answer(request);
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
      return answered(options, () => envelope('RATE_LIMITED', message, also));
    },
    down({ status = 503, retryAfter, ...options } = {}) {
      const init = { status, headers: { [headers.contentType]: 'text/html', ...wait(retryAfter) } };
      return answered(options, () => new Response(`<h1>${status}</h1>`, init));
    },
    slow({ delayMs = 3000, ...options } = {}) {
      const lateMs = wholeNumber('delayMs', delayMs, 0) ?? 0;
      return fault(baseURL, options, async ({ signal }) => {
        await pause(lateMs, signal);
        // A caller who has gone left before the request was taken.
        return signal.aborted ? Response.error() : undefined;
      });
    },
    failing({ code = 'INTERNAL', message = `The mock was told to fail with ${code}.`, ...options } = {}) {
      if (!Object.hasOwn(errorCodes, code)) {
        throw new TypeError(`code "${code}" is none of ${Object.keys(errorCodes).join(', ')}.`);
      }
      return answered(options, () => envelope(code, message, alwaysWith[code]));
    },
    unreachable: (options = {}) => answered(options, refusedConnection),
    answerLost: (options = {}) =>
      answered(options, async (request) => {
        await service.answer(request.clone());
        return Response.error();
      }),
  };
}

/** Headers without which the service sends no answer of a code. */
const alwaysWith: { readonly [Code in ErrorCode]?: Readonly<Record<string, string>> } = {
  RATE_LIMITED: { [headers.retryAfter]: '1' },
  OVERLOADED: { [headers.retryAfter]: '1' },
  AUTHENTICATION_FAILED: { 'www-authenticate': 'Bearer' },
};

function envelope(code: ErrorCode, message: string, also: Readonly<Record<string, string>> = {}): Response {
  const { status, body } = new ApiError(code, message).answer;
  const all = answerHeaders();
  for (const [name, value] of Object.entries(also)) all.set(name, value);
  return new Response(JSON.stringify(body), { status, headers: all });
}
