import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { getResponse } from 'msw';
import type { ActlogMock } from '../src/index.ts';

/** Serves a mock over real HTTP, for tools that test a deployment. */
export class HttpListener {
  readonly #server: Server;

  private constructor(mock: ActlogMock) {
    this.#server = createServer((request, response) => void forward(mock, request, response));
  }

  static async start(mock: ActlogMock): Promise<HttpListener> {
    const listener = new HttpListener(mock);
    await new Promise<void>((resolve) => listener.#server.listen(0, '127.0.0.1', resolve));
    return listener;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function forward(mock: ActlogMock, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const body = await buffer(incoming);
  const { method = 'GET', headersDistinct } = incoming;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const request = new Request(mock.baseURL + incoming.url, {
    method,
    headers,
    signal: gone.signal,
    ...(body.length > 0 && method !== 'GET' && { body }),
  });
  const response = await getResponse([...mock.handlers], request);
  if (!response) throw new Error(`No handler matches ${method} ${incoming.url}.`);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}
