import type { BodySink } from './body-sink.ts';
import type { ResponseHead } from './response-head.ts';

/**
 * One try of one request, as the transport and the caller share it: the transport says how far it got, the caller
 * says when to stop.
 */
export class Exchange {
  /** Whether the request may have left this machine. */
  maybeSent = false;
  /** Set by a transport that cannot tell what was sent, so that the error of a failure has to. */
  errorTells = false;
  /** The head of the answer, once it came. */
  head: ResponseHead | undefined;
  /** Where the body of the answer goes, once its head came. */
  sink: BodySink | undefined;
  /** Why it was stopped, once it was. */
  abortReason: Error | undefined;
  /** Set by the caller: hears of every piece of the body, which tells a slow answer from a silent one. */
  onPiece: (() => void) | undefined;
  /** Set by the transport: stops it at once. */
  onAbort: ((reason: Error) => void) | undefined;
  readonly #openSink: (head: ResponseHead) => BodySink;

  constructor(openSink: (head: ResponseHead) => BodySink) {
    this.#openSink = openSink;
  }

  /** Stops the exchange; only the first reason counts. */
  abort(reason: Error): void {
    if (this.abortReason) return;
    this.abortReason = reason;
    this.onAbort?.(reason);
  }

  /**
   * Takes the head of the answer, and says where the body goes.
   *
   * @throws The reason of `abort`, when it was stopped before: by then another try may be on its way.
   */
  receive(head: ResponseHead): BodySink {
    if (this.abortReason) throw this.abortReason;
    this.maybeSent = true;
    this.head = head;
    this.sink = this.#openSink(head);
    return this.sink;
  }
}
