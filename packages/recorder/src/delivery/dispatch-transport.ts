import { LinkedList, type ListNode } from '../linked-list.ts';
import { type Answer, maxAnswerBytes, type Transport } from './answer.ts';
import { acceptedStatus } from './verdict.ts';

/** The part of undici's request controller that is used here. */
interface DispatchController {
  abort(reason: Error): void;
}

/** undici's `Dispatcher`, as far as it is used here, so that no type of undici is part of this package's types. */
export interface EventDispatcher {
  dispatch(options: Record<string, unknown>, handler: object): boolean;
}

/** Where and how events are posted. */
export interface DispatchTransportOptions {
  readonly dispatcher: EventDispatcher;
  /** The address of `POST /v1/events`. */
  readonly url: URL;
  /** Most milliseconds until the answer's headers, and again between parts of its body. */
  readonly timeoutMs: number;
  /** Most events under way on one connection. */
  readonly pipelining: number;
  /** Closes the connections, where nobody else uses them. Default: they stay open. */
  readonly disconnect?: (() => void) | undefined;
}

/**
 * Posts events by undici's `dispatch`, with a handler that looks at the status and lets an acknowledgement's body
 * pass unread: half the work of `request`.
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
      // An event carries its id, so sending it twice does no harm; undici pipelines a POST only with both.
      ...(pipelining > 1 ? { idempotent: true, blocking: false } : {}),
    };
  }

  send(body: string, headers: Readonly<Record<string, string>>, done: (answer: Answer) => void): void {
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
  readonly #done: (answer: Answer) => void;
  #controller: DispatchController | undefined;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #chunks: Buffer[] | undefined;
  #size = 0;
  #isAborted = false;

  constructor(inFlight: LinkedList<AckHandler>, done: (answer: Answer) => void) {
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
    if (!this.#chunks || this.#size >= maxAnswerBytes) return;
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
    // Once: an aborted request that waited for a connection ends twice.
    if (!this.#node) return;
    this.#inFlight.remove(this.#node);
    this.#node = undefined;
    const body = this.#chunks && Buffer.concat(this.#chunks).toString('utf8', 0, maxAnswerBytes);
    this.#done({ status: this.#status, retryAfter: this.#retryAfter, body, error });
  }
}

function abortError(): Error {
  return Object.assign(new Error('The recorder gave the request up.'), { name: 'AbortError' });
}
