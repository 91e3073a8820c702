import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { originProblem } from './check-origin.ts';
import { respondJson } from './respond-json.ts';

/** Handles one request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Listener for clients that are connected by Streamable HTTP. */
export class Listener {
  /** Address of the listener, without a path. */
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  /**
   * Starts listening.
   *
   * @param port - 0 takes a free one
   * @throws Error when the port is taken, or the address is not one of this machine
   */
  static async start(host: string, port: number, handle: Handler): Promise<Listener> {
    const isLoopback = ['127.0.0.1', '::1', 'localhost'].includes(host);
    const server = createServer({ requestTimeout: 0 }, (request, response) => {
      const problem = originProblem(request, isLoopback);
      if (problem !== undefined) respondJson(response, 403, problem);
      else handle(request, response).catch(() => response.destroy());
    });
    server.listen(port, host);
    try {
      await once(server, 'listening');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(
        `The gateway cannot listen on ${host}:${port} (${code}): choose another --listen or --host.`,
      );
    }
    const { address, family, port: actual } = server.address() as AddressInfo;
    return new Listener(server, `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`);
  }

  /** Stops listening, and closes all connections. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
