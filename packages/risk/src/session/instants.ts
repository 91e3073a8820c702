/**
 * The earliest and the latest times of a kind of event, each up to a limit, for any order of arrival. Up to twice the
 * limit, they are all of them.
 */
export class Instants {
  /** Earliest times, ascending. */
  readonly head: number[];
  /** Latest other times, ascending. */
  readonly tail: number[];
  /** Number of all. */
  total: number;

  constructor(head: number[] = [], tail: number[] = [], total = 0) {
    this.head = head;
    this.tail = tail;
    this.total = total;
  }

  /** Adds a time. */
  add(timestampMs: number): void {
    this.total += 1;
    let moved = timestampMs;
    if (this.head.length < limit) {
      insert(this.head, moved);
      return;
    }
    if (moved < (this.head[limit - 1] as number)) {
      insert(this.head, moved);
      moved = this.head.pop() as number;
    }
    if (this.tail.length === limit && moved <= (this.tail[0] as number)) return;
    insert(this.tail, moved);
    if (this.tail.length > limit) this.tail.shift();
  }

  /**
   * Largest number of events within a span of time. Beyond twice the limit it is the number of all: a session with so many
   * is dense enough for any rule that asks.
   */
  densest(spanMs: number): number {
    if (this.total > limit * 2) return this.total;
    const times = [...this.head, ...this.tail];
    let most = 0;
    let from = 0;
    for (const [at, time] of times.entries()) {
      while (time - (times[from] as number) > spanMs) from += 1;
      most = Math.max(most, at + 1 - from);
    }
    return most;
  }
}

const limit = 12;

function insert(times: number[], time: number): void {
  let at = times.length;
  while (at > 0 && (times[at - 1] as number) > time) at--;
  if (at === times.length) times.push(time);
  else times.splice(at, 0, time);
}
