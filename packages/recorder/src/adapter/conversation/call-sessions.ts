/** Number of calls remembered per recorder, newest first. The end of a conversation is not reported. */
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
    const others = (this.#owners.get(key) ?? []).filter(({ sessionId }) => sessionId !== owner.sessionId);
    renew(this.#owners, key, [...others.slice(1 - maxSessions), owner]);
    renew(this.#turns, owner.sessionId, Math.max(owner.turn, this.#turns.get(owner.sessionId) ?? 0));
  }

  /**
   * Returns the session of a call. Of several, it is the one that has not gone on yet; undefined if that does not tell
   * them apart, because the calls of two people must not get into one session.
   */
  find(key: string): string | undefined {
    const owners = this.#owners.get(key) ?? [];
    const waiting = owners.length > 1 ? owners.filter((owner) => this.#isLatest(owner)) : owners;
    return waiting.length === 1 ? waiting[0]?.sessionId : undefined;
  }

  #isLatest({ sessionId, turn }: Owner): boolean {
    return turn >= (this.#turns.get(sessionId) ?? 0);
  }
}

/** Sets an entry as the newest, and deletes the oldest if there are too many. */
function renew<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > maxCalls) map.delete(map.keys().next().value as string);
}
