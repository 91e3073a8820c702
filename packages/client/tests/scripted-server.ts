import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as received by the server. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Responds to one request. */
export type Script = (response: ServerResponse, request: SeenRequest) => void;

/** A real HTTP server that follows a script: one step per request; the last step repeats. */
export class ScriptedServer {
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #steps: Script[] = [];
  #waiting: (() => void)[] = [];

  constructor() {
    this.#server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
      this.#respond(request, response).catch(() => response.destroy());
    });
    // A test that computes for seconds must not find its connection closed.
    this.#server.keepAliveTimeout = 0;
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the responses to the next requests. */
  script(...steps: Script[]): void {
    this.#steps.splice(0, Infinity, ...steps);
    this.requests.length = 0;
  }

  /** Resolves when the given number of requests has arrived since the last `script` call. */
  async received(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: await text(request) };
    this.requests.push(seen);
    const step = this.#steps.length > 1 ? this.#steps.shift() : this.#steps[0];
    step?.(response, seen);
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** Responds with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string | string[]> = {}): Script {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Responds with the error envelope. */
export function failure(status: number, code: string, headers: Record<string, string> = {}): Script {
  return json(status, { error: { code, message: `it is ${code}` } }, headers);
}

/** Responds with the given bytes. */
export function raw(
  status: number,
  body: string | Uint8Array,
  headers: Record<string, string | string[]> = {},
): Script {
  return (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

/** Breaks the connection before any byte of a response. */
export const reset: Script = (response) => {
  response.socket?.resetAndDestroy();
};
