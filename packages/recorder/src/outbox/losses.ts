import type { Counters } from '../counters.ts';
import type { QueuedEvent } from '../delivery/queued-event.ts';
import { publish } from '../diagnostics.ts';
import type { DropReason } from '../drop-reason.ts';
import type { Reporter } from '../reporter.ts';
import type { DeadLetters } from './dead-letters.ts';

/** What {@link Losses} works with. */
export interface LossesOptions {
  readonly deadLetters: DeadLetters | undefined;
  readonly counters: Counters;
  readonly reporter: Reporter;
}

/** Counts the events that the service will never have, and tells the user of each. */
export class Losses {
  readonly #options: LossesOptions;
  /** Why the events are lost that the user is being told of right now. */
  #telling: DropReason | undefined;

  constructor(options: LossesOptions) {
    this.#options = options;
  }

  /** Whether the user is being told of events lost for this reason, and may be recording others in answer. */
  isTelling(reason: DropReason): boolean {
    return this.#telling === reason;
  }

  /** An event is lost. One that is lost by telling of another is only counted, else one could bring the next without end. */
  drop(event: QueuedEvent, reason: DropReason): void {
    const { counters, reporter } = this.#options;
    const outer = this.#telling;
    if (outer === reason) {
      counters.droppedByReason[reason] += 1;
      return;
    }
    this.#telling = reason;
    try {
      reporter.dropped(event.body, reason);
    } finally {
      this.#telling = outer;
    }
  }

  /** The service refused an event for good: it is kept in the dead-letter file, where there is one. */
  deadLetter(event: QueuedEvent, reason: string): void {
    const { counters, deadLetters, reporter } = this.#options;
    if (!deadLetters?.add(event.body, reason)) {
      this.drop(event, 'refused');
      return;
    }
    counters.deadLettered += 1;
    publish('dead-lettered', () => ({ eventId: event.eventId, sessionId: event.sessionId, reason }));
    reporter.failed(
      'refused',
      new Error(`The service refused an event: ${reason}. It stands in ${deadLetters.path}.`),
    );
  }
}
