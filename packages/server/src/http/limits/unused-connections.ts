import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections on which no byte has arrived. Browsers open some in advance. Node does not count them as idle, so they
 * would delay the close of the server.
 */
export class UnusedConnections {
  readonly #sockets = new Set<Socket>();

  /** Watches the connections of a server. */
  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Closes all unused connections. */
  close(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
