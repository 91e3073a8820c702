import type { Fetch } from './client-options.ts';
import type { Exchange } from './exchange.ts';
import { FetchedHead } from './fetched-head.ts';
import type { Transport, WireRequest } from './transport.ts';

/** Sends through a `fetch`: the platform's, or the caller's. */
export class FetchTransport implements Transport {
  /** The function in use. */
  readonly fetch: Fetch;

  constructor(fetch: Fetch) {
    this.fetch = fetch;
  }

  async send(request: WireRequest, exchange: Exchange): Promise<void> {
    const controller = new AbortController();
    const aborted = new Promise<never>((_resolve, reject) => {
      exchange.onAbort = (reason) => {
        controller.abort(reason);
        reject(reason); // a fetch that ignores its signal must not hold the caller
      };
    });
    aborted.catch(() => {});
    await Promise.race([this.#exchange(request, exchange, controller.signal), aborted]);
  }

  async #exchange(request: WireRequest, exchange: Exchange, signal: AbortSignal): Promise<void> {
    const { method, headers, body } = request;
    // A bare call: the platform's fetch must not be called as a method of ours.
    const { fetch } = this;
    exchange.maybeSent = true; // fetch does not tell; the error may
    exchange.errorTells = true;
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
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
        exchange.onPiece?.();
        await sink.write(piece.value);
      }
    } catch (error) {
      cancel();
      throw error;
    }
  }
}
