import type { BodySink } from './body-sink.ts';
import type { ResponseHead } from './response-head.ts';

/**
 * One try of one request, as the transport and the caller share it: the transport says how far it got, the caller
 * says when to stop.
 */
export class Exchange {
  /** Whether the request may have left this machine. */
  maybeSent = false;
  /** The head of the answer, once it came. */
  head: ResponseHead | undefined;
  /** Why it was stopped, once it was. */
  abortReason: Error | undefined;
  /** How many pieces of the body came; tells a slow answer from a silent one. */
  chunks = 0;
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

  /** Takes the head of the answer, and says where the body goes. */
  receive(head: ResponseHead): BodySink {
    this.maybeSent = true;
    this.head = head;
    return this.#openSink(head);
  }
}
