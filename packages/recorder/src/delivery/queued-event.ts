import type { ListNode } from '../lib/linked-list.ts';
import type { OriginKey } from './origin.ts';

/** Location of an event in the journal. */
export interface JournalPlace {
  /** Notes that the event needs no further handling: it was delivered, dropped or moved. */
  settle(event: QueuedEvent): void;
  /** Forgets the event, which is no longer there. */
  unload(event: QueuedEvent): void;
}

/** An event waiting for delivery. */
export class QueuedEvent {
  readonly eventId: string;
  readonly sessionId: string;
  /** `true` if the event is dropped last: an error, or a decision of the guard. */
  readonly isImportant: boolean;
  /** JSON that is sent, as stored in the journal. */
  readonly body: string;
  readonly originKey: OriginKey;

  /** `true` while the event is being sent, so that it cannot be dropped. */
  inFlight = false;
  /** `true` while the event waits, only in memory, until older events of the journal have been read. */
  isHeld = false;
  /** Number of responses of 500 and the like for this event. */
  faults = 0;
  /** Number of faults between which the service accepted another event. */
  strikes = 0;
  /** Number of delivered events at its last fault. */
  deliveredAtFault = -1;
  /** Location in the journal; undefined if the event is only in memory. */
  place: JournalPlace | undefined;
  offset = 0;
  placeNode: ListNode<QueuedEvent> | undefined;
  /** Nodes of the event in the queue's lists. */
  queueNode: ListNode<QueuedEvent> | undefined;
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

  /** Tells the journal that this event needs no further handling. */
  settle(): void {
    this.place?.settle(this);
  }
}
