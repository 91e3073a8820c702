import { Client } from 'undici';

/**
 * The minimum that any delivery of events does: one request per event over one connection, each after the response to
 * the one before. It retries nothing and keeps nothing.
 */
export class LeastDelivery {
  readonly #client: Client;
  readonly #waiting: string[] = [];
  #running: Promise<void> | undefined;

  constructor(url: string) {
    this.#client = new Client(url);
  }

  /** Queues an event, and sends it as soon as those before it have been acknowledged. */
  add(body: string): void {
    this.#waiting.push(body);
    this.#running ??= this.#run();
  }

  /** Resolves when everything has been acknowledged. */
  async drained(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let body = this.#waiting.shift(); body !== undefined; body = this.#waiting.shift()) {
      const response = await this.#client.request({
        method: 'POST',
        path: '/v1/events',
        headers: { authorization: 'Bearer al_test_benchmark', 'content-type': 'application/json' },
        body,
      });
      await response.body.text();
    }
    this.#running = undefined;
  }
}
