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

/** Signature of `fetch`, limited to what the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Transport that sends through `fetch`, from the platform or the caller. */
export class FetchTransport implements Transport {
  /** The `fetch` function in use. */
  readonly fetch: Fetch;

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }

  async send(request: WireRequest, exchange: Exchange): Promise<void> {
    const controller = new AbortController();
    const aborted = new Promise<never>((_resolve, reject) => {
      exchange.onAbort = (reason) => {
        controller.abort(reason);
        reject(reason); // do not wait for a fetch that ignores its signal
      };
    });
    aborted.catch(() => {});
    await Promise.race([this.#exchange(request, exchange, controller.signal), aborted]);
  }

  async #exchange(request: WireRequest, exchange: Exchange, signal: AbortSignal): Promise<void> {
    const { method, headers, body } = request;
    // The platform's `fetch` throws when it is called as a method, so use a local variable.
    const { fetch } = this;
    exchange.maybeSent = true; // fetch does not report this; the error may
    exchange.inferSentFromError = true;
    const response = await fetch(request.origin + request.target, {
      method,
      headers: { ...headers },
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    const reader = response.body?.getReader();
    const cancel = () => reader?.cancel().catch(() => {});
    // A fetch that ignores its signal does not end its body either.
    signal.onabort = cancel;
    try {
      const sink = exchange.receive(new FetchedHead(response));
      for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
        exchange.onChunk?.();
        await sink.write(chunk.value);
      }
    } catch (error) {
      cancel();
      throw error;
    }
  }
}

/** Head of a response received through `fetch`. */
class FetchedHead implements ResponseHead {
  readonly status: number;
  readonly #headers: Headers;

  constructor(response: Response) {
    this.status = response.status;
    this.#headers = response.headers;
  }

  header(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }

  toHeaders(): Headers {
    return new Headers(this.#headers);
  }
}
