import type { QueuedEvent } from '../delivery/queued-event.ts';
import { factsIn } from '../events/event-body.ts';
import { publish } from '../reporting/diagnostics.ts';
import type { DropReason } from '../reporting/drop-reason.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import type { Counters, Reporter } from '../reporting/reporter.ts';
import type { DeadLetters } from './dead-letters.ts';

/** Dependencies of {@link Losses}. */
export interface LossesOptions {
  readonly deadLetters: DeadLetters | undefined;
  readonly counters: Counters;
  readonly reporter: Reporter;
  readonly refusals: FactRefusals;
}

/** Counts the events that the service will never receive, and reports each. */
export class Losses {
  readonly #options: LossesOptions;
  /** Reason of the loss being reported. */
  #reporting: DropReason | undefined;

  constructor(options: LossesOptions) {
    this.#options = options;
  }

  /**
   * Returns `true` while a loss for this reason is being reported, so that the callback may be recording further
   * events.
   */
  isReporting(reason: DropReason): boolean {
    return this.#reporting === reason;
  }

  /**
   * Reports a lost event. If it was lost while another loss was being reported, it is only counted, to prevent endless
   * recursion.
   */
  drop(event: QueuedEvent, reason: DropReason): void {
    const { counters, reporter } = this.#options;
    const outer = this.#reporting;
    if (outer === reason) {
      counters.droppedByReason[reason] += 1;
      return;
    }
    this.#reporting = reason;
    try {
      reporter.dropped(event.body, reason);
    } finally {
      this.#reporting = outer;
    }
  }

  /**
   * Handles an event that the service rejected permanently: stores it in the dead-letter file, if there is one. An event
   * with further facts about a call is left out: it only adds to the event of the call.
   */
  deadLetter(event: QueuedEvent, reason: string): void {
    const { counters, deadLetters, reporter, refusals } = this.#options;
    const facts = factsIn(event.body);
    if (facts) {
      counters.omitted += 1;
      refusals.noteEvent(facts);
      return;
    }
    if (!deadLetters?.add(event.body, reason)) {
      this.drop(event, 'refused');
      return;
    }
    counters.deadLettered += 1;
    publish('dead-lettered', () => ({ eventId: event.eventId, sessionId: event.sessionId, reason }));
    reporter.failed(
      'refused',
      new Error(`The service rejected an event: ${reason}. It is stored in ${deadLetters.path}.`),
    );
  }
}
