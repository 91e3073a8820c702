import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP proxy in front of a service that can keep requests of some path waiting. */
export class StallingProxy {
  /** `false` to let all requests pass. */
  isStalling = true;
  readonly #server: Server;
  readonly #stalled = Promise.withResolvers<void>();

  private constructor(target: string, path: RegExp) {
    this.#server = createServer((incoming, response) => {
      if (this.isStalling && path.test(incoming.url ?? '')) return this.#stalled.resolve();
      const { method, headers } = incoming;
      const outgoing = request(new URL(incoming.url ?? '/', target), { method, headers }, (received) => {
        response.writeHead(received.statusCode ?? 502, received.headers);
        received.pipe(response);
      });
      incoming.pipe(outgoing);
    });
  }

  /** Starts a proxy that keeps requests of this path waiting, as long as it stalls. */
  static async start(target: string, path: RegExp): Promise<StallingProxy> {
    const proxy = new StallingProxy(target, path);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits until a request is kept waiting. */
  stalled(): Promise<void> {
    return this.#stalled.promise;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
