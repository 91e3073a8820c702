import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ActivityEvent } from '@actlog/protocol';
import { onTestFinished } from 'vitest';

/** A request as the sink saw it. */
export interface SinkRequest {
  /** From 1, over all paths. */
  readonly number: number;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** How a request ends. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /**
   * `reset` closes the connection unanswered; `reset-stored` too, but keeps the event; `cut` breaks off within the
   * body of the answer; `hang` never answers.
   */
  readonly fault?: 'reset' | 'reset-stored' | 'cut' | 'hang';
}

type Answer = (request: SinkRequest) => Reply | undefined | Promise<Reply | undefined>;

/** A real HTTP server that stores events by their ids, as the service does, and fails as it is told. */
export class Sink {
  /** Stored events in the order of their arrival, each once. */
  readonly stored: ActivityEvent[] = [];
  readonly requests: SinkRequest[] = [];
  /** Decides about requests; `undefined` lets them succeed. */
  answer: Answer = () => undefined;
  #server: Server;
  #port = 0;
  readonly #ids = new Set<string>();
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = this.#createServer();
  }

  /** A sink that is closed when the test ends. */
  static async start(answer?: Answer): Promise<Sink> {
    const sink = new Sink();
    if (answer) sink.answer = answer;
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

  /** Listens, on the port it had. */
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

  /** Resolves when a condition holds; it is looked at after every request. */
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
    const { status = 202, headers = {}, body, fault } = (await this.answer(seen)) ?? {};
    const isTaken = fault ? fault === 'reset-stored' || fault === 'cut' : status < 300;
    if (isTaken && seen.path === '/v1/events') this.#store(seen.body as unknown as ActivityEvent);
    if (fault === 'cut') {
      response.writeHead(202, { 'content-length': '1000' });
      response.write('{"eventId":', () => response.destroy());
    } else if (fault === 'hang') {
      // Nothing: the request stays as it is.
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
