/**
 * Keeps the members with the smallest 32-bit hashes, each with a value that was kept from its first arrival on.
 *
 * Whether a member is kept depends on the set of all hashes alone, and a member that was dropped never returns: so
 * the content is the same for any order of arrival, and the values of the kept members are exact.
 */
export class BottomK<T> {
  readonly #capacity: number;
  readonly #values = new Map<number, T>();
  #largest = -1;
  // In order, until another member comes: a session is scored more often than it meets a new tool.
  #sorted: (readonly [number, T])[] | undefined;

  /** @param capacity How many members are kept. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The member's value, made by `create` on its first arrival; undefined where the member is not kept. */
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

  /** The member's value; undefined where it is not kept. */
  get(hash: number): T | undefined {
    return this.#values.get(hash);
  }

  /** How many members are kept. */
  get size(): number {
    return this.#values.size;
  }

  /** Whether members may have been dropped. */
  get full(): boolean {
    return this.#values.size >= this.#capacity;
  }

  /** The members by ascending hash. */
  entries(): readonly (readonly [number, T])[] {
    this.#sorted ??= [...this.#values].sort(([a], [b]) => a - b);
    return this.#sorted;
  }
}
