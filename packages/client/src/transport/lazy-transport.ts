import type { Dispatcher } from 'undici';
import type { Exchange } from './exchange.ts';
import type { Transport, WireRequest } from './transport.ts';
import type { UndiciTransport } from './undici-transport.ts';

/** Transport of Node. Loads undici and the code around it on the first request. */
export class LazyTransport implements Transport {
  /** `true` if this is the pool that all clients share: the caller passed no dispatcher, and there is no proxy. */
  readonly usesDefaultPool: boolean;
  readonly #load: () => Promise<UndiciTransport>;
  #loaded: UndiciTransport | undefined;

  /**
   * @param own Dispatcher passed by the caller.
   * @param proxy Result of `resolveProxy`.
   */
  constructor(own: Dispatcher | undefined, proxy: string | undefined) {
    this.usesDefaultPool = own === undefined && proxy === undefined;
    this.#load = async () => {
      const { UndiciTransport } = await import('./undici-transport.ts');
      this.#loaded = await UndiciTransport.create(own, proxy);
      return this.#loaded;
    };
  }

  /** Returns the dispatcher in use. */
  async dispatcher(): Promise<Dispatcher> {
    return (this.#loaded ?? (await this.#load())).dispatcher;
  }

  send(request: WireRequest, exchange: Exchange): Promise<void> {
    return this.#loaded ? this.#loaded.send(request, exchange) : this.#loadAndSend(request, exchange);
  }

  async #loadAndSend(request: WireRequest, exchange: Exchange): Promise<void> {
    const transport = await this.#load();
    if (exchange.abortReason) throw exchange.abortReason;
    await transport.send(request, exchange);
  }
}
