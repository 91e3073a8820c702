import { LinkedList, type ListNode } from '../lib/linked-list.ts';
import { acceptedStatus, maxErrorBodyBytes, type SendResult, type Transport } from './send-result.ts';

/** The used part of undici's request controller. */
interface DispatchController {
  abort(reason: Error): void;
}

/** The used part of undici's `Dispatcher`, declared here so that this package's types do not depend on undici. */
export interface EventDispatcher {
  dispatch(options: Record<string, unknown>, handler: object): boolean;
}

/** Options of a `DispatchTransport`. */
export interface DispatchTransportOptions {
  readonly dispatcher: EventDispatcher;
  /** Address of `POST /v1/events`. */
  readonly url: URL;
  /** Maximum time until the response headers, and between chunks of the body, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of requests in flight per connection. */
  readonly pipelining: number;
  /** Closes the connections if nobody else uses them. Default: they stay open. */
  readonly disconnect?: (() => void) | undefined;
}

/**
 * Posts events through undici's `dispatch`, with a handler that reads the status and skips the body of an
 * acknowledgement: half the work of `request`.
 */
export class DispatchTransport implements Transport {
  readonly #dispatcher: EventDispatcher;
  readonly #fixed: Record<string, unknown>;
  readonly #disconnect: (() => void) | undefined;
  readonly #inFlight = new LinkedList<AckHandler>();

  constructor({ dispatcher, url, timeoutMs, pipelining, disconnect }: DispatchTransportOptions) {
    this.#dispatcher = dispatcher;
    this.#disconnect = disconnect;
    this.#fixed = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      // Sending an event twice is harmless, because it has an id. undici pipelines a POST only with both options.
      ...(pipelining > 1 ? { idempotent: true, blocking: false } : {}),
    };
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (result: SendResult) => void): void {
    const handler = new AckHandler(this.#inFlight, done);
    try {
      this.#dispatcher.dispatch({ ...this.#fixed, headers, body }, handler);
    } catch (error) {
      handler.onResponseError(undefined, error as Error);
    }
  }

  abort(): void {
    for (const handler of [...this.#inFlight]) handler.abort();
    this.#disconnect?.();
  }
}

/** undici's `DispatchHandler` for one event. */
class AckHandler {
  readonly #inFlight: LinkedList<AckHandler>;
  #node: ListNode<AckHandler> | undefined;
  readonly #done: (result: SendResult) => void;
  #controller: DispatchController | undefined;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #chunks: Buffer[] | undefined;
  #size = 0;
  #isAborted = false;

  constructor(inFlight: LinkedList<AckHandler>, done: (result: SendResult) => void) {
    this.#inFlight = inFlight;
    this.#done = done;
    this.#node = inFlight.push(this);
  }

  abort(): void {
    this.#isAborted = true;
    if (this.#controller) this.#controller.abort(abortError());
    else this.#settle({ error: abortError() }); // still waiting for a connection
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller;
    if (this.#isAborted) controller.abort(abortError());
  }

  onResponseStart(
    _controller: unknown,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    if (status === acceptedStatus) return;
    const retryAfter = headers['retry-after'];
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter.join(', ') : retryAfter;
    this.#chunks = [];
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (!this.#chunks || this.#size >= maxErrorBodyBytes) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  onResponseEnd(): void {
    this.#settle({});
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#settle({ error });
  }

  #settle({ error }: { error?: Error }): void {
    // Only once: an aborted request that waited for a connection ends twice.
    if (!this.#node) return;
    this.#inFlight.remove(this.#node);
    this.#node = undefined;
    const body = this.#chunks && Buffer.concat(this.#chunks).toString('utf8', 0, maxErrorBodyBytes);
    this.#done({ status: this.#status, retryAfter: this.#retryAfter, body, error });
  }
}

function abortError(): Error {
  return Object.assign(new Error('The recorder aborted the request.'), { name: 'AbortError' });
}
