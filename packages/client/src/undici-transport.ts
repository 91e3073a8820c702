import type { Dispatcher } from 'undici';
import { defaultDispatcher } from './default-dispatcher.ts';
import { DispatchHandler } from './dispatch-handler.ts';
import type { Exchange } from './exchange.ts';
import type { Transport, WireRequest } from './transport.ts';

/**
 * Sends through an undici dispatcher, by `dispatch` with a handler of our own: a third less CPU than `request`, and
 * the handler learns exactly whether the request left.
 */
export class UndiciTransport implements Transport {
  readonly dispatcher: Dispatcher;

  constructor(dispatcher: Dispatcher) {
    this.dispatcher = dispatcher;
  }

  /** With the caller's dispatcher, or with the one that all clients share, which loads undici. */
  static async create(own: Dispatcher | undefined, proxy: string | undefined): Promise<UndiciTransport> {
    return new UndiciTransport(own ?? (await defaultDispatcher(proxy)));
  }

  send(request: WireRequest, exchange: Exchange): Promise<void> {
    return new Promise((resolve, reject) => {
      const handler = new DispatchHandler(exchange, resolve, reject);
      this.dispatcher.dispatch(
        {
          origin: request.origin,
          path: request.target,
          method: request.method as Dispatcher.HttpMethod,
          headers: request.headers,
          body: request.body ?? null,
          // The one timer of the try covers both.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        handler,
      );
    });
  }
}
