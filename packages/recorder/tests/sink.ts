import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ActivityEvent } from '@actlog/protocol';
import { onTestFinished } from 'vitest';

/** A request received by the sink. */
export interface SinkRequest {
  /** Number of the request, from 1, over all paths. */
  readonly number: number;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** Outcome of a request. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /**
   * `reset` closes the connection without a response; `reset-stored` does too, but stores the event; `cut` breaks off
   * within the response body; `hang` never responds.
   */
  readonly fault?: 'reset' | 'reset-stored' | 'cut' | 'hang';
}

type Respond = (request: SinkRequest) => Reply | undefined | Promise<Reply | undefined>;

/** A real HTTP server that stores events by id, like the service, and fails on demand. */
export class Sink {
  /** Stored events in the order of arrival, each once. */
  readonly stored: ActivityEvent[] = [];
  readonly requests: SinkRequest[] = [];
  /** Determines the reply to a request; `undefined` for success. */
  respond: Respond = () => undefined;
  #server: Server;
  #port = 0;
  readonly #ids = new Set<string>();
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = this.#createServer();
  }

  /** Starts a sink that is closed when the test ends. */
  static async start(respond?: Respond): Promise<Sink> {
    const sink = new Sink();
    if (respond) sink.respond = respond;
    await sink.up();
    onTestFinished(() => sink.down());
    return sink;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get storedIds(): string[] {
    return this.stored.map(({ eventId }) => eventId);
  }

  /** Listens again on the same port. */
  async up(): Promise<void> {
    this.#server = this.#createServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening and breaks every connection. */
  async down(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** Resolves when a condition holds; checked after every request. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #createServer(): Server {
    return createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#handle(request, response, Buffer.concat(chunks).toString()));
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const seen: SinkRequest = {
      number: this.requests.length + 1,
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(text),
    };
    this.requests.push(seen);
    const { status = 202, headers = {}, body, fault } = (await this.respond(seen)) ?? {};
    const isTaken = fault ? fault === 'reset-stored' || fault === 'cut' : status < 300;
    if (isTaken && seen.path === '/v1/events') this.#store(seen.body as unknown as ActivityEvent);
    if (fault === 'cut') {
      response.writeHead(202, { 'content-length': '1000' });
      response.write('{"eventId":', () => response.destroy());
    } else if (fault === 'hang') {
      // The request stays open.
    } else if (fault) {
      request.socket.resetAndDestroy();
    } else {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(
        JSON.stringify(body ?? { eventId: seen.body.eventId, receivedAt: new Date(), warnings: [] }),
      );
    }
    for (const resolve of [...this.#waiting]) resolve();
    this.#waiting.clear();
  }

  #store(event: ActivityEvent): void {
    if (this.#ids.has(event.eventId)) return;
    this.#ids.add(event.eventId);
    this.stored.push(event);
  }
}
