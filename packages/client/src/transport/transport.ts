import type { Exchange } from './exchange.ts';

/** A request as it is sent. */
export interface WireRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Sends requests: through the undici pool or through `fetch`. */
export interface Transport {
  /**
   * Sends the request once and passes the response to the exchange. Follows no redirects, which would forward the API
   * key.
   *
   * @returns When the whole body has been passed on.
   * @throws The platform's own error, or the reason of `exchange.abort`.
   */
  send(request: WireRequest, exchange: Exchange): Promise<void>;
}
