import type { WebhookEvent } from '@actlog/client';
import type { Inbox } from './inbox.ts';

/** Processes the deliveries of the inbox one by one. Failed ones are retried at the next wake-up. */
export class Worker {
  readonly #inbox: Inbox;
  readonly #act: (event: WebhookEvent) => Promise<void>;
  #passes = Promise.resolve();

  constructor(inbox: Inbox, act: (event: WebhookEvent) => Promise<void>) {
    this.#inbox = inbox;
    this.#act = act;
  }

  /** Call after every delivery, at the start, and every minute. Resolves after an attempt at every waiting delivery. */
  wake(): Promise<void> {
    this.#passes = this.#passes.then(() => this.#pass());
    return this.#passes;
  }

  async #pass(): Promise<void> {
    for (const { id, event } of this.#inbox.waiting()) {
      let isDone = false;
      try {
        await this.#act(event);
        isDone = true;
      } catch (error) {
        console.error(`Processing ${event.type} failed:`, (error as Error).message);
      }
      this.#inbox.tried(id, isDone);
    }
  }
}
