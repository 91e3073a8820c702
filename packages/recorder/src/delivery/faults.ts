import type { QueuedEvent } from './queued-event.ts';

/**
 * Number of failures of one event, while the service accepts others in between, after which the event is rejected
 * permanently.
 */
const maxStrikes = 10;
/**
 * Number of distinct failing events, without a success in between, that count as an outage rather than a problem of
 * those events.
 */
const faultyEventsOfAnOutage = 3;

/**
 * Tracks events that the service fails on (500 and the like), to tell a problem of the event from a problem of the
 * service.
 */
export class Faults {
  /** Failed events since the last success. */
  readonly #events = new Set<QueuedEvent>();

  /** `true` if the service has failed since it last accepted an event. */
  get areOpen(): boolean {
    return this.#events.size > 0;
  }

  /** `true` if so many events fail that the service itself has a problem. */
  get areOutage(): boolean {
    return this.#events.size >= faultyEventsOfAnOutage;
  }

  /**
   * Counts a failure of the service on an event.
   *
   * @param delivered - total number of delivered events; if it has grown between two failures of an event, the event is
   * the problem
   * @returns `true` if the service will never accept the event
   */
  add(event: QueuedEvent, delivered: number): boolean {
    this.#events.add(event);
    event.faults += 1;
    if (delivered > event.deliveredAtFault) event.strikes += 1;
    event.deliveredAtFault = delivered;
    return event.strikes >= maxStrikes;
  }

  /** Forgets an event that has left the queue. */
  remove(event: QueuedEvent): void {
    if (event.faults > 0) this.#events.delete(event);
  }

  /** Forgets all failures after a success. */
  clear(): void {
    // Clearing even an empty set allocates a new table.
    if (this.#events.size > 0) this.#events.clear();
  }

  /** Returns the delay before a failed event is sent again, in milliseconds. */
  static delayMs({ faults }: QueuedEvent): number {
    return Math.min(30_000, 100 * 2 ** Math.min(faults, 10)) * (0.5 + Math.random() / 2);
  }
}
