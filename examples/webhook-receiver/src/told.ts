import { EventEmitter, once } from 'node:events';

/** Texts that were told, and a way to wait for one. */
export class Told {
  readonly #texts: string[] = [];
  readonly #emitter = new EventEmitter();

  /** All texts, the first first. */
  get all(): readonly string[] {
    return this.#texts;
  }

  get length(): number {
    return this.#texts.length;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#emitter.emit('told');
  }

  /** The first text that a pattern finds, once there is one. @throws Error after 20 seconds without it. */
  async first(pattern: RegExp): Promise<string> {
    return (await this.times(1, pattern))[0] ?? '';
  }

  /** The first so many texts that a pattern finds. @throws Error after 20 seconds without them. */
  async times(count: number, pattern: RegExp): Promise<string[]> {
    const signal = AbortSignal.timeout(20_000);
    for (;;) {
      const found = this.#texts.filter((text) => pattern.test(text));
      if (found.length >= count) return found.slice(0, count);
      await once(this.#emitter, 'told', { signal }).catch(() => {
        throw new Error(`Nothing came in 20 seconds that is like ${pattern}.`);
      });
    }
  }
}
