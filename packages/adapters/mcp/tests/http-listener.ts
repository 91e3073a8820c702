import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

/** A server on a loopback port. */
export interface Listener {
  readonly url: URL;
  close(): Promise<void>;
}

/** Listens on a free port. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Listener> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Does the same for a handler of web requests: a client that disconnects aborts the request. */
export function listenFetch(handle: (request: Request) => Promise<Response>): Promise<Listener> {
  return listen(async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const { method = 'GET', url = '/', headers } = incoming;
    const init = {
      method,
      headers: headers as Record<string, string>,
      signal: gone.signal,
      ...(method === 'POST' && { body: Readable.toWeb(incoming), duplex: 'half' }),
    };
    const response = await handle(new Request(new URL(url, `http://${headers.host}`), init as RequestInit));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (!response.body) outgoing.end();
    // A disconnected client needs no response.
    else await pipeline(Readable.fromWeb(response.body as NodeReadableStream), outgoing).catch(() => {});
  });
}
