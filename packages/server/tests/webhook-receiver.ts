import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received message. */
export interface ReceivedMessage {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { readonly type: string; readonly data: Record<string, unknown> };
}

/** A real HTTP server for webhooks, with responses set by the test. */
export class WebhookReceiver {
  readonly messages: ReceivedMessage[] = [];
  /** Responses to the next messages; 204 when none are left. */
  readonly responses: { status: number; headers?: Record<string, string> }[] = [];
  /** Awaited before each response. */
  beforeResponse: () => Promise<unknown> = async () => {};
  readonly #server: Server;
  #arrived: () => void = () => {};

  constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', async () => {
        await this.beforeResponse();
        this.messages.push({ headers: request.headers, text, body: JSON.parse(text) });
        const { status, headers = {} } = this.responses.shift() ?? { status: 204 };
        response.writeHead(status, headers).end();
        this.#arrived();
      });
    });
  }

  /** Starts listening, and returns the address. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Resolves when `count` messages have arrived in total. */
  async received(count: number): Promise<readonly ReceivedMessage[]> {
    while (this.messages.length < count) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.messages;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
