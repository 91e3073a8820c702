import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventBytes, eventStreamType } from './event-stream.ts';

/** Delay after which a response begins without a message, in milliseconds. Most calls end sooner, with one message. */
const headersDelayMs = 500;

/**
 * Response to one request of an HTTP client, which becomes a stream of events when there is more to send than one
 * message.
 */
export class ClientResponse {
  readonly #response: ServerResponse;
  /** `true` if the client accepts a stream of events. */
  readonly acceptsStream: boolean;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers - headers of a response that does not come from a server */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.#response = response;
    this.acceptsStream = request.headers.accept?.includes(eventStreamType) ?? false;
    this.#headers = headers;
  }

  /** Calls a function when the response has ended, or the client is gone. */
  onClose(closed: () => void): void {
    this.#response.once('close', closed);
  }

  /** `true` once headers are sent. */
  get isStarted(): boolean {
    return this.#response.headersSent;
  }

  /** `true` once the response is a stream of events. */
  get isStream(): boolean {
    return this.isStarted && this.#response.getHeader('content-type') === eventStreamType;
  }

  /** Sends one of several messages; without effect for a client that accepts no stream. */
  event(message: Buffer): void {
    if (!this.acceptsStream) return;
    this.startStream();
    this.#response.write(eventBytes(message));
  }

  /** Sends the headers of a stream, unless they are sent. */
  startStream(): void {
    if (this.isStarted) return;
    const headers = { ...this.#headers, 'content-type': eventStreamType, 'cache-control': 'no-cache' };
    this.#response.setHeaders(new Map(Object.entries(headers)));
    this.#response.writeHead(200);
    this.#response.flushHeaders();
  }

  /**
   * Sends the headers of a stream if there is nothing else to send soon: a client or a proxy may give up on a response
   * without headers.
   *
   * @returns a function that leaves the headers to others
   */
  startStreamSoon(): () => void {
    if (!this.acceptsStream) return () => {};
    const timer = setTimeout(() => this.startStream(), headersDelayMs);
    timer.unref();
    const stop = () => clearTimeout(timer);
    this.onClose(stop);
    return stop;
  }

  /** Sends the last message, or the only one. */
  end(message: Buffer): void {
    if (this.isStarted) {
      this.#response.end(eventBytes(message));
      return;
    }
    this.#response.writeHead(200, { ...this.#headers, 'content-type': 'application/json' });
    this.#response.end(message.toString().trimEnd());
  }

  /** Ends the response without another message. */
  finish(status = 202): void {
    if (!this.isStarted) this.#response.writeHead(status, this.#headers);
    this.#response.end();
  }
}
