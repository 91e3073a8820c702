import { detached } from '../lib/detached.ts';
import { timers } from '../lib/timers.ts';

/** Time for which results are read in one turn of the event loop, in milliseconds. */
const turnMs = 4;

/** Reads results after the call that returned them, so that the agent need not wait for it. */
export class PendingResults {
  /** Reading that is still to do, by session, oldest first. */
  readonly #bySession = new Map<string, (() => void)[]>();
  #isScheduled = false;

  /** Reads later, before {@link finish} of the session at the latest. */
  add(sessionId: string, read: () => void): void {
    const waiting = this.#bySession.get(sessionId);
    if (waiting === undefined) this.#bySession.set(sessionId, [read]);
    else waiting.push(read);
    this.#schedule();
  }

  /** Reads at once what a session still has to read. */
  finish(sessionId: string): void {
    const waiting = this.#bySession.get(sessionId);
    if (waiting === undefined) return;
    this.#bySession.delete(sessionId);
    for (const read of waiting) read();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    detached(() => timers.setImmediate(() => this.#turn()));
  }

  #turn(): void {
    this.#isScheduled = false;
    const endsAt = timers.now() + turnMs;
    for (const [sessionId, waiting] of this.#bySession) {
      for (let read = waiting.shift(); read !== undefined; read = waiting.shift()) {
        read();
        if (timers.now() >= endsAt) {
          if (waiting.length === 0) this.#bySession.delete(sessionId);
          if (this.#bySession.size > 0) this.#schedule();
          return;
        }
      }
      this.#bySession.delete(sessionId);
    }
  }
}
