import type { WebhookEvent } from '@actlog/client';
import type { Inbox } from './inbox.ts';

/** Acts on what the inbox holds, one after the other. What fails is tried again the next time that it is woken. */
export class Worker {
  readonly #inbox: Inbox;
  readonly #act: (event: WebhookEvent) => Promise<void>;
  #passes = Promise.resolve();

  constructor(inbox: Inbox, act: (event: WebhookEvent) => Promise<void>) {
    this.#inbox = inbox;
    this.#act = act;
  }

  /** To be called after every delivery, at the start, and every minute. Resolves when all that waits was tried. */
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
        console.error(`${event.type} could not be acted on:`, (error as Error).message);
      }
      this.#inbox.tried(id, isDone);
    }
  }
}
