import type { Dispatcher } from 'undici';
import type { BodySink, ResponseHead } from '../response/api-response.ts';
import { decodingSink, type FinishingSink } from './content-encoding.ts';
import type { Exchange, Transport, WireRequest } from './transport.ts';
import { type PoolSource, pools, unreferencedPools } from './undici-pools.ts';

/**
 * Transport that uses an undici dispatcher. Calls `dispatch` with its own handler, which uses a third less CPU than
 * `request` and reports exactly whether the request was sent.
 */
export class UndiciTransport implements Transport {
  readonly #connections: Connections | { readonly dispatcher: Dispatcher };
  /** Closes connections that no other code uses. */
  readonly close?: () => Promise<void>;

  private constructor(connections: Connections | { readonly dispatcher: Dispatcher }) {
    this.#connections = connections;
    if ('unref' in connections && connections.unref) this.close = () => connections.close();
  }

  /** Creates a transport with the caller's dispatcher, or with the shared one, which loads undici. */
  static async create(own: Dispatcher | undefined, proxy: string | undefined): Promise<UndiciTransport> {
    return new UndiciTransport(own ? { dispatcher: own } : await sharedConnections(proxy));
  }

  /**
   * Creates a transport with connections that no other code uses and that never keep the process alive, not even while a
   * response is pending.
   *
   * @param limit Maximum number of connections.
   */
  static async createUnreferenced(origin: string, limit: number): Promise<UndiciTransport> {
    return new UndiciTransport(new Connections(await unreferencedPools(origin, limit)));
  }

  /** The dispatcher in use. */
  get dispatcher(): Dispatcher {
    return this.#connections.dispatcher;
  }

  send(request: WireRequest, exchange: Exchange): Promise<void> {
    const connections: Partial<Connections> = this.#connections;
    const { dispatcher } = this.#connections;
    const { origin, target, method, headers, body = null } = request;
    return new Promise((resolve, reject) => {
      dispatcher.dispatch(
        {
          origin,
          path: target,
          method: method as Dispatcher.HttpMethod,
          headers,
          body,
          // The timer of the attempt covers both.
          headersTimeout: 0,
          bodyTimeout: 0,
          ...(connections.isFaked ? { reset: true } : undefined),
        },
        new ExchangeHandler(exchange, resolve, reject, connections.unref),
      );
    });
  }
}

/**
 * Connections of a transport. They are replaced when a test fakes timers, and again when it restores them: undici waits
 * for the global `setImmediate` before it reuses a connection, and a fake one may never fire. Meanwhile each request
 * needs a new connection.
 */
class Connections {
  readonly #source: PoolSource;
  #dispatcher: Dispatcher;
  #isFaked = isImmediateFaked();

  constructor(source: PoolSource) {
    this.#source = source;
    this.#dispatcher = source.open();
  }

  /** Must be called when a request starts, if it is there. */
  get unref(): (() => void) | undefined {
    return this.#source.unref;
  }

  /** `true` if a connection must not be used for another request. */
  get isFaked(): boolean {
    return this.#isFaked;
  }

  /** Closes the connections; requests in flight end with an error. */
  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  /** The dispatcher for the next request. */
  get dispatcher(): Dispatcher {
    if (isImmediateFaked() !== this.#isFaked) {
      this.#isFaked = !this.#isFaked;
      // The caller may have the shared dispatcher, whose connections close when they are idle.
      if (this.#source.unref) void this.#dispatcher.close().catch(() => {});
      this.#dispatcher = this.#source.open();
    }
    return this.#dispatcher;
  }
}

/**
 * Returns `true` if a test has replaced the global `setImmediate` with a fake. Those of `@sinonjs/fake-timers` (jest,
 * Vitest) have a `clock`; those of `node:test` are bound functions. Other replacements, such as those of monitoring
 * tools, do call back.
 */
function isImmediateFaked(): boolean {
  const { setImmediate } = globalThis as { setImmediate?: { readonly name: string } };
  return setImmediate !== undefined && ('clock' in setImmediate || setImmediate.name.startsWith('bound '));
}

/** One pool per proxy setting, shared by all clients, so that creating a client per request opens no connections. */
const shared = new Map<string | undefined, Promise<Connections>>();

/**
 * Returns the connections of clients that were given none. Loads undici on first use, because loading it takes longer
 * than everything else in this package.
 */
function sharedConnections(proxy: string | undefined): Promise<Connections> {
  let connections = shared.get(proxy);
  if (connections === undefined) {
    connections = pools(proxy).then((source) => new Connections(source));
    shared.set(proxy, connections);
    connections.catch(() => shared.delete(proxy));
  }
  return connections;
}

/**
 * Number of bytes that may wait for the sink before the sender pauses. Not 0, because undici reads on at every pause
 * and rescans its buffer, so that many small chunks would be buffered in quadratic time.
 */
const maxWaitingBytes = 256 * 1024;

/** Handles one request in undici's pool and passes the response to the exchange. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  readonly #onStart: (() => void) | undefined;
  /** Undefined before the request starts and after it has ended: it would keep memory of earlier requests. */
  #controller: Dispatcher.DispatchController | undefined;
  #encoding: string | undefined;
  #sink: BodySink | undefined;
  #decoder: FinishingSink | undefined;
  /** Settles when the sink has written everything received so far; rejects when the sink fails. */
  #pending: Promise<void> | undefined;
  #waitingBytes = 0;

  /** @param onStart Called when the request has got a connection. */
  constructor(
    exchange: Exchange,
    resolve: () => void,
    reject: (reason: unknown) => void,
    onStart: (() => void) | undefined,
  ) {
    this.#onStart = onStart;
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
    this.#onStart?.();
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
    this.#controller = undefined;
    const { head } = this.#exchange;
    if (head === undefined) this.#reject(new Error('the response ended before its headers'));
    else if (this.#decoder === undefined && this.#pending === undefined) this.#resolve();
    else this.#finish().then(this.#resolve, this.#reject);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#controller = undefined;
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
export class ParsedHead implements ResponseHead {
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
