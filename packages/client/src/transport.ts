import type { Exchange } from './exchange.ts';

/** One request as it goes out. */
export interface WireRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What sends requests: the undici pool, or a `fetch`. */
export interface Transport {
  /**
   * Sends the request once, and hands the answer to the exchange. Follows no redirect: the key would go with it.
   *
   * @returns When the whole body was handed over.
   * @throws The platform's own error, or the reason of `exchange.abort`.
   */
  send(request: WireRequest, exchange: Exchange): Promise<void>;
}
