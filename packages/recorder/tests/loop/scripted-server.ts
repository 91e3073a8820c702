import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A server in place of a provider, which responds with these bodies in turn and keeps the requests. */
export class ScriptedServer {
  /** Bodies of the requests so far, oldest first. */
  readonly sent: unknown[] = [];
  readonly #server;

  private constructor(bodies: readonly object[], isHttp2: boolean) {
    const create = (isHttp2 ? createHttp2Server : createServer) as typeof createServer;
    this.#server = create(async (request, response) => {
      const body = bodies[this.sent.length];
      this.sent.push(JSON.parse(await text(request)));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    });
  }

  /** @param isHttp2 - `true` for clients that speak HTTP/2 without an upgrade, such as that of Bedrock */
  static async start(bodies: readonly object[], isHttp2 = false): Promise<ScriptedServer> {
    const scripted = new ScriptedServer(bodies, isHttp2);
    scripted.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => scripted.#server.once('listening', resolve));
    return scripted;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Closes the server. The client has to end its own connections, because HTTP/2 keeps them. */
  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
