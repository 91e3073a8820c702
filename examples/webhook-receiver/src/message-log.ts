import { EventEmitter, once } from 'node:events';

/** Messages, and functions that wait for one. */
export class MessageLog {
  readonly #texts: string[] = [];
  readonly #emitter = new EventEmitter();

  /** All messages, oldest first. */
  get all(): readonly string[] {
    return this.#texts;
  }

  get length(): number {
    return this.#texts.length;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#emitter.emit('message');
  }

  /** Waits for the first message that matches. @throws Error after 20 seconds */
  async first(pattern: RegExp): Promise<string> {
    return (await this.times(1, pattern))[0] ?? '';
  }

  /** Waits for the first `count` messages that match. @throws Error after 20 seconds */
  async times(count: number, pattern: RegExp): Promise<string[]> {
    const signal = AbortSignal.timeout(20_000);
    for (;;) {
      const found = this.#texts.filter((text) => pattern.test(text));
      if (found.length >= count) return found.slice(0, count);
      await once(this.#emitter, 'message', { signal }).catch(() => {
        throw new Error(`Fewer than ${count} messages matched ${pattern} within 20 seconds.`);
      });
    }
  }
}
