import { dropOldest } from '../../lib/drop-oldest.ts';

/** Minimum number of calls remembered per recorder; the maximum is twice as many. The end of a chat is not reported. */
const maxCalls = 10_000;

/** Number of sessions remembered for a call that several conversations have. */
const maxSessions = 8;

/** A session that has a call. */
interface Owner {
  readonly sessionId: string;
  /** Turn of the conversation in which the call was made. */
  readonly turn: number;
}

/**
 * Sessions of past calls. Calls of several conversations may have the same key, if the model numbers its calls and the
 * users wrote the same.
 */
export class CallSessions {
  readonly #owners = new Map<string, Owner[]>();
  /** Last turn of each session that has made a call. */
  readonly #turns = new Map<string, number>();

  /** Notes the session of a call. */
  note(key: string, owner: Owner): void {
    const { sessionId, turn } = owner;
    const owners = this.#owners.get(key);
    if (owners === undefined) add(this.#owners, key, [owner]);
    else if (owners.at(-1)?.sessionId !== sessionId) {
      const others = owners.filter((other) => other.sessionId !== sessionId);
      this.#owners.set(key, [...others.slice(1 - maxSessions), owner]);
    }
    const latest = this.#turns.get(sessionId);
    if (latest === undefined) add(this.#turns, sessionId, turn);
    else if (latest < turn) this.#turns.set(sessionId, turn);
  }

  /**
   * Returns the session of a call. Of several, it is the probable one, or else the one that has not gone on yet;
   * undefined if that does not tell them apart, because the calls of two people must not get into one session.
   *
   * @param probable - session that something weaker than a call points to; counts only if it has the call too
   */
  find(key: string, probable?: string): string | undefined {
    const owners = this.#owners.get(key) ?? [];
    if (owners.some(({ sessionId }) => sessionId === probable)) return probable;
    const waiting = owners.length > 1 ? owners.filter((owner) => this.#isLatest(owner)) : owners;
    return waiting.length === 1 ? waiting[0]?.sessionId : undefined;
  }

  #isLatest({ sessionId, turn }: Owner): boolean {
    return turn >= (this.#turns.get(sessionId) ?? 0);
  }
}

function add<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size > 2 * maxCalls) dropOldest(map, maxCalls);
}
