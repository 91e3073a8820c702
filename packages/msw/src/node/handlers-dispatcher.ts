import type { Dispatcher } from 'undici';
import { type HandlerSource, MockExchange } from './mock-exchange.ts';
import * as undici from './undici.js';

const base: typeof Dispatcher = undici.Dispatcher;

/**
 * An undici dispatcher that sends requests to handlers instead of the network; unhandled requests fail. For the
 * `dispatcher` option of a client or a recorder.
 */
export class HandlersDispatcher extends base {
  readonly #source: HandlerSource;

  /** @param source Result of `setupServer()` from `msw/node`. It does not have to listen. */
  constructor(source: HandlerSource) {
    super();
    this.#source = source;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    void new MockExchange(handler).run(options, this.#source);
    return true;
  }

  override async close(): Promise<void> {}

  override async destroy(): Promise<void> {}
}
