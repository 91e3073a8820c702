import type { Dispatcher } from 'undici';
import { type ActlogError, invalidValue } from './errors/actlog-error.ts';
import { environmentVariable } from './platform.ts';
import type { Fetch, Transport } from './transport/transport.ts';

/** Headers added by the caller. `null` removes a header that the client sends by default. */
export type HeaderOverrides = Readonly<Record<string, string | null | undefined>>;

/** Token of the caller, or a function that returns the current one; it is called for each request. */
export type IdentitySource = string | (() => string | undefined | Promise<string | undefined>);

/** Options of the client. All have defaults, except the key and the address, which may come from the environment. */
export interface ClientOptions {
  /** API key of the tenant, `al_live_…` or `al_test_…`. Default: the environment variable `ACTLOG_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** Address of the deployment, without `/v1`. Default: the environment variable `ACTLOG_BASE_URL`. */
  readonly baseURL?: string | URL | undefined;
  /** Time limit of one attempt, including its body, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries of a call. Default 3 (specification, "Limits"); 0 disables retries. */
  readonly maxRetries?: number | undefined;
  /** Longest `Retry-After` to wait for, in milliseconds. A longer one fails the call at once. Default 120,000. */
  readonly maxRetryAfterMs?: number | undefined;
  /** Time limit of a whole call, with all attempts and delays, in milliseconds. Default: none. */
  readonly deadlineMs?: number | undefined;
  /**
   * Maximum size of a response that is read into memory, in bytes. Default 64 MiB. Does not apply to `exportToFile` and
   * `exportToBlob`.
   */
  readonly maxResponseBytes?: number | undefined;
  /** Name of the AI framework, sent as `x-service-framework`. */
  readonly framework?: string | undefined;
  /** Version of the agent, sent as `x-service-agent-version`. */
  readonly agentVersion?: string | undefined;
  /** Name and version of an integration built on this client. Precedes the client's own in `x-service-sdk`. */
  readonly sdk?: string | undefined;
  /**
   * Token (JWT) that verifies the agent and its principal, sent with events and policy checks as `x-actlog-identity`; or a
   * function that returns it. Read for each request. Default: `ACTLOG_IDENTITY_TOKEN_FILE`, a file that is read again when
   * it changes, else `ACTLOG_IDENTITY_TOKEN`.
   */
  readonly identity?: IdentitySource | undefined;
  /**
   * Called when the token cannot be read; the request is then sent without one. Default: one log line of the level `warn`.
   */
  readonly onIdentityError?: ((error: Error) => void) | undefined;
  /** Headers for every request. `null` removes a header that the client sends by default. */
  readonly headers?: HeaderOverrides | undefined;
  /** `fetch` function to send requests with, instead of the undici pool or the platform's own `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Undici dispatcher to send requests with, such as your own `Agent` (TLS, sockets) or a `MockAgent`. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Sends the requests over another HTTP stack: a `Transport` of `@actlog/client/transport`. */
  readonly transport?: Transport | undefined;
  /**
   * Address of an HTTP proxy (Node only). Default: the environment variables `HTTPS_PROXY`, `HTTP_PROXY` and
   * `NO_PROXY`, for every address except this machine's own. `false` ignores them.
   */
  readonly proxy?: string | URL | false | undefined;
  /** Functions called on every attempt. */
  readonly hooks?: Hooks | undefined;
  /** Destination of log lines. Default: `console`. */
  readonly logger?: Logger | undefined;
  /** Minimum severity of logged lines. Default: the environment variable `ACTLOG_LOG`, else `warn`. */
  readonly logLevel?: LogLevel | undefined;
  /** Allows http to another machine, which sends the API key unencrypted. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /**
   * Allows the client in a browser, where everyone who opens the page can read the API key and act as the tenant.
   * Default false. Prefer calling your own server, which calls the service.
   */
  readonly dangerouslyExposeApiKeyInBrowser?: boolean | undefined;
  /** Source of time and random numbers, for tests. Default: the platform's. */
  readonly clock?: Clock | undefined;
}

/** Names of the options of a client. */
export const clientOptionNames: readonly string[] = Object.keys({
  agentVersion: true,
  allowInsecureHttp: true,
  apiKey: true,
  baseURL: true,
  clock: true,
  dangerouslyExposeApiKeyInBrowser: true,
  deadlineMs: true,
  dispatcher: true,
  fetch: true,
  framework: true,
  headers: true,
  hooks: true,
  identity: true,
  logLevel: true,
  logger: true,
  maxResponseBytes: true,
  maxRetries: true,
  maxRetryAfterMs: true,
  onIdentityError: true,
  proxy: true,
  sdk: true,
  timeoutMs: true,
  transport: true,
} satisfies Record<keyof ClientOptions, true>);

/** A request about to be sent. */
export interface OutgoingRequest {
  readonly method: string;
  /** Full URL, with its query. */
  readonly url: string;
  /** Headers to be sent, including the API key. A hook may add, change and delete headers. Never log them. */
  readonly headers: Record<string, string>;
  /** Attempt number, from 1. */
  readonly attempt: number;
}

/** A complete response. */
export interface IncomingResponse {
  readonly method: string;
  /** Path of the request, without its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  readonly attempt: number;
  /** Time from sending the request to the last byte of the body, in milliseconds. */
  readonly durationMs: number;
}

/** A retry about to be delayed. */
export interface PlannedRetry {
  /** Error that caused the retry. */
  readonly error: ActlogError;
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
}

/**
 * Functions called on every attempt. An error thrown by a hook, or the rejection of its promise, ends the call with
 * exactly that error. The `signal` and `deadlineMs` of the call also apply while it waits for a hook.
 */
export interface Hooks {
  /** Called before every attempt. */
  readonly beforeRequest?: ((request: OutgoingRequest) => void | Promise<void>) | undefined;
  /** Called after every response, including error responses; not called after a broken connection. */
  readonly afterResponse?: ((response: IncomingResponse) => void | Promise<void>) | undefined;
  /** Called before the delay of a retry. */
  readonly onRetry?: ((retry: PlannedRetry) => void | Promise<void>) | undefined;
}

/** Minimum severity of logged lines; each level includes those before it. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/** Destination of log lines: `console`, or a logger with the same four methods. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/** All fields that a log line may have beside its message. A logger never receives headers, queries, bodies or keys. */
export interface LogFields {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  /** Attempt number, from 1. */
  readonly attempt?: number | undefined;
  readonly delayMs?: number | undefined;
  readonly durationMs?: number | undefined;
}

const levels: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

/**
 * Returns the level from the option, else from `ACTLOG_LOG`, else `warn`.
 *
 * @throws InvalidArgumentError When the option is not a level. An unknown level in the variable is ignored.
 */
export function resolveLogLevel(option: LogLevel | undefined): LogLevel {
  const named = option ?? environmentVariable('ACTLOG_LOG');
  const level = levels.find((one) => one === named);
  if (option && !level) {
    throw invalidValue('logLevel', `one of ${levels.join(', ')}`, option);
  }
  return level ?? 'warn';
}

/** Logger that drops lines below the level. An error thrown by the underlying logger does not affect the call. */
export class LeveledLogger {
  readonly #logger: Logger;
  readonly #most: number;
  /** `true` if `debug` lines are logged, so that their fields need not be built otherwise. */
  readonly isDebugging: boolean;

  constructor(logger: Logger, level: LogLevel) {
    this.#logger = logger;
    this.#most = levels.indexOf(level);
    this.isDebugging = level === 'debug';
  }

  /** Logs one line if the level allows it. */
  log(level: Exclude<LogLevel, 'off'>, message: string, fields?: LogFields): void {
    if (levels.indexOf(level) > this.#most) return;
    try {
      if (fields === undefined) this.#logger[level](`[actlog] ${message}`);
      else this.#logger[level](`[actlog] ${message}`, fields);
    } catch {
      // A failing logger must not fail the call.
    }
  }
}

/** Handle of a started timer; its type depends on the platform. */
export type TimerHandle = unknown;

/** Source of time and random numbers. Replace it in tests, so that retries are instant and their delays known. */
export interface Clock {
  /** Returns the milliseconds of a monotonic clock with an arbitrary origin. */
  now(): number;
  /** Returns the current Unix time in milliseconds. */
  wallClock(): number;
  /** Calls back once after `delayMs`. */
  setTimeout(callback: () => void, delayMs: number): TimerHandle;
  /** Cancels a timer that has not fired. */
  clearTimeout(timer: TimerHandle): void;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

/** The platform's clock and random numbers. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  random: () => Math.random(),
};

/** Longest delay of a timer. With a longer one, `setTimeout` fires at once. */
export const longestTimerMs = 2 ** 31 - 1;
