import type { Dispatcher } from 'undici';
import type { BodySink } from '../response/body-sink.ts';
import { decodingSink, type FinishingSink } from '../response/content-decoding.ts';
import type { Exchange } from './exchange.ts';
import { ParsedHead } from './parsed-head.ts';

/**
 * Number of bytes that may wait for the sink before the sender pauses. Not 0, because undici reads on at every pause
 * and rescans its buffer, so that many small chunks would be buffered in quadratic time.
 */
const maxWaitingBytes = 256 * 1024;

/** Handles one request in undici's pool and passes the response to the exchange. */
export class DispatchHandler implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #encoding: string | undefined;
  #sink: BodySink | undefined;
  #decoder: FinishingSink | undefined;
  /** Settles when the sink has written everything received so far; rejects when the sink fails. */
  #pending: Promise<void> | undefined;
  #waitingBytes = 0;

  constructor(exchange: Exchange, resolve: () => void, reject: (reason: unknown) => void) {
    this.#exchange = exchange;
    this.#resolve = resolve;
    this.#reject = reject;
    exchange.onAbort = (reason) => {
      // A request that waits for a connection has no controller yet, so reject without waiting for one.
      this.#controller?.abort(reason);
      reject(reason);
    };
  }

  /** Called just before the request is written to a connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#exchange.abortReason) {
      controller.abort(this.#exchange.abortReason);
      return;
    }
    this.#controller = controller;
    this.#exchange.maybeSent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return; // interim response (RFC 9110, section 15.2)
    const head = new ParsedHead(status, headers);
    this.#exchange.receive(head);
    const encoding = headers['content-encoding'];
    if (encoding !== undefined) this.#encoding = String(encoding);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#exchange.onChunk?.();
    this.#sink ??= this.#openSink();
    const sink = this.#sink;
    const written = this.#pending ? this.#pending.then(() => sink?.write(chunk)) : sink?.write(chunk);
    if (written === undefined) return;
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > maxWaitingBytes) controller.pause();
    this.#pending = written.then(() => {
      this.#waitingBytes -= chunk.length;
      if (this.#waitingBytes === 0) controller.resume();
    });
    this.#pending.catch((error) => {
      this.#reject(error);
      controller.abort(error);
    });
  }

  onResponseEnd(): void {
    const { head } = this.#exchange;
    if (head === undefined) this.#reject(new Error('the response ended before its headers'));
    else if (this.#decoder === undefined && this.#pending === undefined) this.#resolve();
    else this.#finish().then(this.#resolve, this.#reject);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }

  /** Opens the sink at the first chunk, because an encoding without a body has no meaning. */
  #openSink(): BodySink | undefined {
    const { sink } = this.#exchange;
    if (sink && this.#encoding !== undefined) this.#decoder = decodingSink(this.#encoding, sink);
    return this.#decoder ?? sink;
  }

  async #finish(): Promise<void> {
    await this.#pending;
    await this.#decoder?.finish();
  }
}
