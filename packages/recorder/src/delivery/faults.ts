import type { QueuedEvent } from './queued-event.ts';

/** An event at which the service fails so often, while it takes others in between, is refused for good. */
const maxStrikes = 10;
/** So many events that fail with a fault, and none that passes, are an outage and not a matter of those events. */
const faultyEventsOfAnOutage = 3;

/** The events at which the service fails (500 and the like): is it about them, or about the service? */
export class Faults {
  /** Since the last that passed. */
  readonly #events = new Set<QueuedEvent>();

  /** Whether the service has failed since it last took an event. */
  get areOpen(): boolean {
    return this.#events.size > 0;
  }

  /** Whether so many events fail that it is about the service. */
  get areOutage(): boolean {
    return this.#events.size >= faultyEventsOfAnOutage;
  }

  /**
   * The service failed at an event.
   *
   * @param delivered - how many events it has taken in all: a fault that comes back while it takes others is about the event
   * @returns whether it will never take this one
   */
  add(event: QueuedEvent, delivered: number): boolean {
    this.#events.add(event);
    event.faults += 1;
    if (delivered > event.deliveredAtFault) event.strikes += 1;
    event.deliveredAtFault = delivered;
    return event.strikes >= maxStrikes;
  }

  /** The event left, whichever way. */
  remove(event: QueuedEvent): void {
    if (event.faults > 0) this.#events.delete(event);
  }

  /** The service took an event, so there is no outage. */
  clear(): void {
    // Clearing an empty set makes a new table all the same.
    if (this.#events.size > 0) this.#events.clear();
  }

  /** Milliseconds until an event at which the service failed is sent again. */
  static delayMs({ faults }: QueuedEvent): number {
    return Math.min(30_000, 100 * 2 ** Math.min(faults, 10)) * (0.5 + Math.random() / 2);
  }
}
