import { isBefore } from './mark.ts';

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

/** An event with a key, such as the kind of object that it concerns. */
interface KeyedMoment {
  readonly key: number;
  readonly timestampMs: number;
  readonly eventId: string;
  readonly tool: number;
}

/**
 * The earliest (or latest) event of each of the two keys that come first (or last). With the two earliest of one kind and
 * the two latest of another, it is known for any number of events if an event of one kind with one key precedes one of the
 * other kind with another key.
 */
export class PairExtremes {
  readonly kept: KeyedMoment[];
  readonly #latest: boolean;

  constructor(latest: boolean, kept: KeyedMoment[] = []) {
    this.#latest = latest;
    this.kept = kept;
  }

  /** Adds an event. */
  add(key: number, timestampMs: number, eventId: string, tool: number): void {
    const { kept } = this;
    const at = kept[0]?.key === key ? 0 : kept[1]?.key === key ? 1 : -1;
    const weakest = at >= 0 ? kept[at] : kept.length === 2 ? kept[1] : undefined;
    if (weakest !== undefined && !this.#beats(timestampMs, eventId, weakest)) return;
    const moment = { key, timestampMs, eventId, tool };
    if (at >= 0) kept[at] = moment;
    else if (kept.length === 2) kept[1] = moment;
    else kept.push(moment);
    const [first, second] = kept;
    if (second !== undefined && this.#beats(second.timestampMs, second.eventId, first as KeyedMoment))
      kept.reverse();
  }

  #beats(timestampMs: number, eventId: string, than: KeyedMoment): boolean {
    return this.#latest
      ? isBefore(than.timestampMs, than.eventId, timestampMs, eventId)
      : isBefore(timestampMs, eventId, than.timestampMs, than.eventId);
  }
}

/** Returns an event of one kind and a later one of another kind with another key; undefined if there are none. */
export function differentPair(
  earliest: PairExtremes,
  latest: PairExtremes,
): readonly [KeyedMoment, KeyedMoment] | undefined {
  for (const one of earliest.kept) {
    for (const other of latest.kept) {
      if (one.key === other.key) continue;
      if (isBefore(one.timestampMs, one.eventId, other.timestampMs, other.eventId)) return [one, other];
    }
  }
  return undefined;
}
