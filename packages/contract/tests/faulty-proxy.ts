import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request on its way to the service, which a fault may change. */
export interface Passing {
  readonly method: string;
  /** Path without its query. */
  path: string;
  readonly query: URLSearchParams;
  readonly headers: Record<string, string>;
  body: string;
}

/** A response on its way back, which a fault may change. */
export interface Returning {
  status: number;
  readonly headers: Record<string, string>;
  body: string;
}

/** A fault of a deployment. */
export interface Fault {
  /** Changes a request, or returns a response in place of the service. */
  readonly request?: (passing: Passing) => unknown;
  /** Changes a response. */
  readonly response?: (returning: Returning, passing: Passing) => void;
}

function isResponse(value: unknown): value is Returning {
  return typeof value === 'object' && value !== null && 'status' in value;
}

/**
 * A real HTTP proxy in front of the real service. It passes everything on unchanged unless it has a fault.
 */
export class FaultyProxy {
  readonly #upstream: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server: Server;
  /** The current fault. */
  fault: Fault = {};
  /** Method and path of every received request. */
  readonly seen: string[] = [];

  private constructor(upstream: string) {
    this.#upstream = new URL(upstream);
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  }

  /** Starts a proxy in front of a service. */
  static async start(upstream: string, fault: Fault = {}): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(upstream);
    proxy.fault = fault;
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Base URL of the proxy. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops the proxy. */
  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', this.#upstream);
    const passing: Passing = {
      method: incoming.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: { ...(incoming.headers as Record<string, string>) },
      body: await text(incoming),
    };
    this.seen.push(`${passing.method} ${passing.path}`);
    try {
      const instead = this.fault.request?.(passing);
      const returning = isResponse(instead) ? instead : await this.#forward(passing);
      this.fault.response?.(returning, passing);
      outgoing.writeHead(returning.status, returning.headers);
      outgoing.end(returning.body);
    } catch {
      outgoing.destroy();
    }
  }

  #forward({ method, path, query, headers, body }: Passing): Promise<Returning> {
    const { host: _host, connection: _connection, 'transfer-encoding': _coding, ...kept } = headers;
    const search = query.size > 0 ? `?${query}` : '';
    return new Promise((resolve, reject) => {
      const sent = request(
        new URL(path + search, this.#upstream),
        {
          method,
          agent: this.#agent,
          headers: { ...kept, 'content-length': String(Buffer.byteLength(body)) },
        },
        (response) => {
          const {
            'content-length': _length,
            'transfer-encoding': _encoding,
            connection: _c,
            ...rest
          } = response.headers;
          text(response).then(
            (received) =>
              resolve({
                status: response.statusCode ?? 0,
                headers: rest as Record<string, string>,
                body: received,
              }),
            reject,
          );
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
