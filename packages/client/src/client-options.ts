import type { Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import type { ActlogError } from './errors/actlog-error.ts';
import type { Logger, LogLevel } from './logger.ts';
import type { HeaderOverrides } from './request/request-headers.ts';

/** Signature of `fetch`, limited to what the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

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
  /** Headers for every request. `null` removes a header that the client sends by default. */
  readonly headers?: HeaderOverrides | undefined;
  /** `fetch` function to send requests with, instead of the undici pool or the platform's own `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Undici dispatcher to send requests with, such as your own `Agent` (TLS, sockets) or a `MockAgent`. */
  readonly dispatcher?: Dispatcher | undefined;
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
