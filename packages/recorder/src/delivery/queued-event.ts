import type { ListNode } from '../linked-list.ts';
import type { OriginKey } from './origin.ts';

/** Where an event stands in the journal. */
export interface JournalPlace {
  /** Says that the event needs no further care: it was delivered, dropped or moved elsewhere. */
  settle(event: QueuedEvent): void;
  /** Forgets the event, which stands there no longer. */
  unload(event: QueuedEvent): void;
}

/** An event on its way to the service. */
export class QueuedEvent {
  readonly eventId: string;
  readonly sessionId: string;
  /** Whether it is among the last to be dropped: an error, or a decision of the guard. */
  readonly isImportant: boolean;
  /** The JSON that is sent, as it stands in the journal. */
  readonly body: string;
  readonly originKey: OriginKey;

  /** Being sent right now: it cannot be dropped any more. */
  inFlight = false;
  /** Waits, in memory only, until older events of the journal have been read. */
  isHeld = false;
  /** Answers of 500 and the like, for this very event. */
  faults = 0;
  /** Those of them before which the service took another event. */
  strikes = 0;
  /** How many events had been delivered at its last fault. */
  deliveredAtFault = -1;
  /** Where the journal holds it; undefined when only memory does. */
  place: JournalPlace | undefined;
  offset = 0;
  placeNode: ListNode<QueuedEvent> | undefined;
  /** Its places in the queue. */
  laneNode: ListNode<QueuedEvent> | undefined;
  ageNode: ListNode<QueuedEvent> | undefined;

  constructor(fields: {
    eventId: string;
    sessionId: string;
    isImportant: boolean;
    body: string;
    originKey: OriginKey;
  }) {
    this.eventId = fields.eventId;
    this.sessionId = fields.sessionId;
    this.isImportant = fields.isImportant;
    this.body = fields.body;
    this.originKey = fields.originKey;
  }

  /** Tells the journal that this event is done with. */
  settle(): void {
    this.place?.settle(this);
  }
}
