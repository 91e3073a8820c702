import type { Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import type { Hooks } from './hooks.ts';
import type { Logger, LogLevel } from './logger.ts';
import type { HeaderOverrides } from './request-headers.ts';

/** A `fetch` function, as far as the client uses it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of the client. Everything has a default but the key and the address, which can come from the environment. */
export interface ActlogOptions {
  /** The tenant's API key, `al_live_…` or `al_test_…`. Default: the environment variable `ACTLOG_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** Address of the deployment, without `/v1`. Default: the environment variable `ACTLOG_BASE_URL`. */
  readonly baseURL?: string | URL | undefined;
  /** Longest time of one try, its body included, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** How many times a failed call is repeated. Default 3, as the specification says ("Limits"); 0 turns it off. */
  readonly maxRetries?: number | undefined;
  /** Longest `Retry-After` to wait for, in milliseconds; a longer one fails the call at once. Default 120,000. */
  readonly maxRetryAfterMs?: number | undefined;
  /** Longest time of a whole call, with all tries and waits, in milliseconds. Default: none. */
  readonly deadlineMs?: number | undefined;
  /** Most bytes of an answer that is read into memory. Default 64 MiB. Bounds neither `exportToFile` nor `exportToBlob`. */
  readonly maxResponseBytes?: number | undefined;
  /** Name of the AI framework, sent as `x-service-framework`. */
  readonly framework?: string | undefined;
  /** Version of the agent, sent as `x-service-agent-version`. */
  readonly agentVersion?: string | undefined;
  /** Name and version of an integration built on this client; stands before the client's own in `x-service-sdk`. */
  readonly sdk?: string | undefined;
  /** Headers for every request. `null` takes one away that the client would send. */
  readonly headers?: HeaderOverrides | undefined;
  /** A `fetch` to send with, instead of the undici pool or the platform's own. */
  readonly fetch?: Fetch | undefined;
  /** An undici dispatcher to send with, such as an `Agent` of your own (TLS, sockets), or a `MockAgent`. */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * Address of an HTTP proxy (Node only). Default: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` of the environment, for
   * every address but this machine's own; `false` ignores them.
   */
  readonly proxy?: string | URL | false | undefined;
  /** Functions that look at every try. */
  readonly hooks?: Hooks | undefined;
  /** Where log lines go. Default: `console`. */
  readonly logger?: Logger | undefined;
  /** How much is logged. Default: the environment variable `ACTLOG_LOG`, else `warn`. */
  readonly logLevel?: LogLevel | undefined;
  /** Allows http to another machine, over which the API key travels unencrypted. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /**
   * Allows the client in a browser, where everyone who opens the page can read the API key and act as the tenant.
   * Default false. Call your own server instead, and let it call the service.
   */
  readonly dangerouslyExposeApiKeyInBrowser?: boolean | undefined;
  /** Where time and chance come from. For tests; default: the platform's. */
  readonly clock?: Clock | undefined;
}
