import { createServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A response on its way from the service. */
export interface PassingResponse {
  readonly path: string;
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * Starts a reverse proxy that changes the responses of a server, and returns its address.
 *
 * @param tls - key and certificate; plain HTTP without them
 */
export async function startAlteringProxy(
  target: string,
  alter: (response: PassingResponse) => void,
  tls?: ServerOptions,
): Promise<string> {
  const forward: RequestListener = async (incoming, outgoing) => {
    const { method, url: path = '', headers } = incoming;
    const body = await buffer(incoming);
    const forwarded = request(target + path, { method, headers }, async (received) => {
      const response: PassingResponse = {
        path,
        status: received.statusCode ?? 502,
        headers: received.headers,
        body: (await buffer(received)).toString(),
      };
      alter(response);
      const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = response.headers;
      outgoing.writeHead(response.status, kept).end(response.body);
    });
    forwarded.end(body);
  };
  const proxy = tls ? createTlsServer(tls, forward) : createServer(forward);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `${tls ? 'https' : 'http'}://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
