import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { builtinModule } from '../platform.ts';
import type { BodySink, ResponseHead } from '../response/api-response.ts';
import type { Exchange } from './transport.ts';

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

/** Head of a response received through undici. */
class ParsedHead implements ResponseHead {
  readonly status: number;
  readonly #headers: Readonly<Record<string, string | string[] | undefined>>;

  constructor(status: number, headers: Readonly<Record<string, string | string[] | undefined>>) {
    this.status = status;
    this.#headers = headers;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  toHeaders(): Headers {
    const headers = new Headers();
    for (const [name, value] of Object.entries(this.#headers)) {
      for (const single of Array.isArray(value) ? value : [value ?? '']) headers.append(name, single);
    }
    return headers;
  }
}

/** A sink that buffers data until `finish` is called. */
interface FinishingSink extends BodySink {
  finish(): Promise<void>;
}

/** Error thrown when a response has an encoding that this platform cannot decode. */
class UnknownEncoding extends Error {
  /** Recognized by `connectionFailure`, as the codes of decoders are. */
  get code(): string {
    return this.message;
  }
}

/**
 * Decodes a `Content-Encoding` (RFC 9110, section 8.4) in front of a sink. The client requests none, but a gateway may
 * still apply one. The target's own limit applies to the decoded bytes, so that a small response cannot expand without
 * bound.
 *
 * @returns Undefined for `identity`.
 * @throws UnknownEncoding When the encoding is unknown, or more than one is applied.
 */
function decodingSink(encoding: string, target: BodySink): FinishingSink | undefined {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || name === '') return undefined;
  const zlib = builtinModule('node:zlib');
  const makers: Record<string, (() => Transform) | undefined> = {
    gzip: zlib?.createGunzip,
    'x-gzip': zlib?.createGunzip,
    deflate: zlib?.createInflate,
    br: zlib?.createBrotliDecompress,
    zstd: zlib?.createZstdDecompress,
  };
  const decoder = Object.hasOwn(makers, name) ? makers[name]?.() : undefined;
  if (decoder === undefined) throw new UnknownEncoding(`content encoding ${JSON.stringify(name)}`);
  return new DecodingSink(decoder, target);
}

class DecodingSink implements FinishingSink {
  readonly #decoder: Transform;
  readonly #done: Promise<void>;

  constructor(decoder: Transform, target: BodySink) {
    this.#decoder = decoder;
    this.#done = this.#pump(target);
    this.#done.catch(() => {}); // handled by `write` and `finish`
  }

  async #pump(target: BodySink): Promise<void> {
    for await (const chunk of this.#decoder) await target.write(chunk);
  }

  write(chunk: Uint8Array): Promise<void> {
    // A failure of the decoder or of the target also ends the wait for this chunk.
    const written = new Promise<void>((resolve, reject) => {
      this.#decoder.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    return Promise.race([written, this.#done]);
  }

  async finish(): Promise<void> {
    this.#decoder.end();
    await this.#done;
  }
}
