import { isBefore } from './mark.ts';

/** An event with a key, such as the kind of object that it concerns. */
export interface KeyedMoment {
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
