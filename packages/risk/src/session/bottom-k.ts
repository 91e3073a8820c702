/**
 * Keeps the members with the smallest 32-bit hashes, each with a value that is updated from its first arrival on.
 *
 * The kept members depend only on the set of all hashes, and a dropped member never returns. The content is therefore
 * the same for any order of arrival, and the values of the kept members are exact.
 */
export class BottomK<T> {
  readonly #capacity: number;
  readonly #values = new Map<number, T>();
  #largest = -1;
  // Cached until the next insertion: a session is scored more often than it meets a new tool.
  #sorted: (readonly [number, T])[] | undefined;

  /** @param capacity Maximum number of members. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns the member's value, creating it on first arrival; undefined if the member is not kept. */
  reach(hash: number, create: () => T): T | undefined {
    const present = this.#values.get(hash);
    if (present !== undefined) return present;
    if (this.#values.size >= this.#capacity) {
      if (hash > this.#largest) return undefined;
      this.#values.delete(this.#largest);
      this.#largest = -1;
      for (const kept of this.#values.keys()) if (kept > this.#largest) this.#largest = kept;
    }
    this.#sorted = undefined;
    const value = create();
    this.#values.set(hash, value);
    if (hash > this.#largest) this.#largest = hash;
    return value;
  }

  /** Returns the member's value; undefined if it is not kept. */
  get(hash: number): T | undefined {
    return this.#values.get(hash);
  }

  /** Removes a member. Returns `true` if there was one. */
  drop(hash: number): boolean {
    if (!this.#values.delete(hash)) return false;
    this.#sorted = undefined;
    this.#largest = Math.max(-1, ...this.#values.keys());
    return true;
  }

  /** Number of members. */
  get size(): number {
    return this.#values.size;
  }

  /** `true` if members may have been dropped. */
  get full(): boolean {
    return this.#values.size >= this.#capacity;
  }

  /** Returns the members by ascending hash. */
  entries(): readonly (readonly [number, T])[] {
    this.#sorted ??= [...this.#values].sort(([a], [b]) => a - b);
    return this.#sorted;
  }
}
