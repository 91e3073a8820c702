import type { BodySink, ResponseHead } from '../response/api-response.ts';

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

/** Sends requests: through undici's pool, through `fetch`, or through an HTTP stack of the caller. */
export interface Transport {
  /**
   * Sends the request once and passes the response to the exchange. Follows no redirects, which would forward the API
   * key.
   *
   * @returns When the whole body has been passed on.
   * @throws The platform's own error, or the reason of `exchange.abort`.
   */
  send(request: WireRequest, exchange: Exchange): Promise<void>;
  /** Closes connections that no other code uses; requests in flight end with an error. */
  close?(): Promise<void>;
}

/** One attempt of a request, shared by the transport, which reports progress, and the caller, which can abort it. */
export class Exchange {
  /** `true` if the request may have left this machine. */
  maybeSent = false;
  /** `true` if the transport cannot tell what was sent, so that it must be inferred from the error. */
  inferSentFromError = false;
  /** Head of the response, once received. */
  head: ResponseHead | undefined;
  /** Destination of the response body, once the head is received. */
  sink: BodySink | undefined;
  /** Reason of the abort, if aborted. */
  abortReason: Error | undefined;
  /** Set by the caller. Called for every chunk of the body, to distinguish a slow response from a silent one. */
  onChunk: (() => void) | undefined;
  /** Set by the transport. Aborts it at once. */
  onAbort: ((reason: Error) => void) | undefined;
  readonly #openSink: (head: ResponseHead) => BodySink;

  constructor(openSink: (head: ResponseHead) => BodySink) {
    this.#openSink = openSink;
  }

  /** Aborts the exchange. Only the first reason counts. */
  abort(reason: Error): void {
    if (this.abortReason) return;
    this.abortReason = reason;
    this.onAbort?.(reason);
  }

  /**
   * Stores the head of the response and returns the destination of the body.
   *
   * @throws The reason of `abort` if the exchange was aborted before; another attempt may already be running.
   */
  receive(head: ResponseHead): BodySink {
    if (this.abortReason) throw this.abortReason;
    this.maybeSent = true;
    this.head = head;
    this.sink = this.#openSink(head);
    return this.sink;
  }
}
