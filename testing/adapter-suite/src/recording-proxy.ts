import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request that went through the proxy. */
export interface ProxiedRequest {
  readonly path: string;
  /** Body as text; empty if there was none. */
  readonly body: string;
}

/** A proxy in front of a service, which keeps everything that is sent through it. */
export class RecordingProxy {
  /** Requests so far, oldest first. */
  readonly requests: ProxiedRequest[] = [];
  readonly #server: Server;

  private constructor(target: string) {
    this.#server = createServer(async (request, response) => {
      const { url = '/', method = 'GET' } = request;
      const body = await buffer(request);
      this.requests.push({ path: url, body: body.toString() });
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
      const forwarded = await fetch(target + url, {
        method,
        headers: headers as Record<string, string>,
        ...(body.length > 0 && { body: new Uint8Array(body) }),
      });
      const type = forwarded.headers.get('content-type');
      response.writeHead(forwarded.status, type === null ? {} : { 'content-type': type });
      response.end(Buffer.from(await forwarded.arrayBuffer()));
    });
  }

  /** Starts a proxy for the service at an address. */
  static async start(target: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => proxy.#server.once('listening', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
