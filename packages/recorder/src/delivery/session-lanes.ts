import { LinkedList, type ListNode } from '../linked-list.ts';
import type { QueuedEvent } from './queued-event.ts';

/** Lanes without events that may stand in the map before they are cleared out together. */
const maxEmptyLanes = 1_000;

/** The events of one session, sent one after another. */
interface Lane {
  readonly sessionId: string;
  readonly events: LinkedList<QueuedEvent>;
  /** Its place among the lanes that could send now; undefined while its first event is in flight or waits. */
  turn: ListNode<Lane> | undefined;
}

/**
 * The queue in memory. Each session is a lane with one event in flight at most, so that its order is kept whatever
 * happens to a request; lanes take turns, so that a busy session does not hold back the others.
 */
export class SessionLanes {
  /**
   * Those without events among them: a map whose entries come and go at every event leaves a trail of old tables,
   * each of which keeps the next one, and what stood in it, from being collected early.
   */
  readonly #lanes = new Map<string, Lane>();
  #emptyLanes = 0;
  readonly #turns = new LinkedList<Lane>();
  /** Events that only memory holds, by age: among them is chosen what to drop. */
  readonly #ordinary = new LinkedList<QueuedEvent>();
  readonly #important = new LinkedList<QueuedEvent>();
  /** Events that wait outside of the lanes until older ones have been read from the journal. */
  readonly #held = new LinkedList<QueuedEvent>();
  #length = 0;

  /** Events in the queue, those in flight and those held among them. */
  get length(): number {
    return this.#length;
  }

  /** Of them, those that only memory holds. */
  get volatileLength(): number {
    return this.#ordinary.length + this.#important.length;
  }

  /** Of them, those that are held. */
  get heldLength(): number {
    return this.#held.length;
  }

  /** Adds an event that only memory holds, to be sent once {@link releaseHeld} is called. */
  hold(event: QueuedEvent): void {
    event.isHeld = true;
    event.laneNode = this.#held.push(event);
    event.ageNode = this.#ageList(event).push(event);
    this.#length += 1;
  }

  /** Moves the events that were held into their lanes. */
  releaseHeld(): void {
    for (let event = this.#held.first; event; event = this.#held.first) {
      this.#unhold(event);
      this.push(event);
    }
  }

  /** Adds an event at the end of its session's lane. */
  push(event: QueuedEvent): void {
    let lane = this.#lanes.get(event.sessionId);
    if (!lane) {
      lane = { sessionId: event.sessionId, events: new LinkedList(), turn: undefined };
      this.#lanes.set(event.sessionId, lane);
      this.#emptyLanes += 1;
    }
    if (lane.events.length === 0) {
      this.#emptyLanes -= 1;
      lane.turn = this.#turns.push(lane);
    }
    event.laneNode = lane.events.push(event);
    if (!event.place) event.ageNode ??= this.#ageList(event).push(event);
    this.#length += 1;
  }

  /** Whether events of a session stand in the queue. */
  hasMoreOf(sessionId: string): boolean {
    return (this.#lanes.get(sessionId)?.events.length ?? 0) > 0;
  }

  /** Says that only memory holds an event. */
  becameVolatile(event: QueuedEvent): void {
    if (event.laneNode) event.ageNode ??= this.#ageList(event).push(event);
  }

  /** Says that the journal holds an event now. */
  becameDurable(event: QueuedEvent): void {
    if (event.ageNode) this.#ageList(event).remove(event.ageNode);
    event.ageNode = undefined;
  }

  /** The oldest event that only memory holds: what is written down late stands in order all the same. */
  get firstVolatile(): QueuedEvent | undefined {
    const important = this.#important.first;
    const ordinary = this.#ordinary.first;
    if (!important || !ordinary) return important ?? ordinary;
    return important.eventId < ordinary.eventId ? important : ordinary;
  }

  /** The next event to send; its lane waits until {@link remove} or {@link putBack}. */
  next(): QueuedEvent | undefined {
    const lane = this.#turns.first;
    if (!lane?.turn) return undefined;
    this.#turns.remove(lane.turn);
    lane.turn = undefined;
    const event = lane.events.first as QueuedEvent;
    event.inFlight = true;
    return event;
  }

  /** Takes an event out, delivered or not, and gives its lane a turn when it was the one in flight. */
  remove(event: QueuedEvent): void {
    if (event.isHeld) {
      this.#unhold(event);
      this.becameDurable(event);
      return;
    }
    const lane = this.#lanes.get(event.sessionId);
    if (!lane || !event.laneNode) return;
    lane.events.remove(event.laneNode);
    if (event.ageNode) this.#ageList(event).remove(event.ageNode);
    this.#length -= 1;
    event.laneNode = undefined;
    event.ageNode = undefined;
    if (lane.events.length === 0) {
      if (lane.turn) this.#turns.remove(lane.turn);
      lane.turn = undefined;
      this.#emptyLanes += 1;
      if (this.#emptyLanes > maxEmptyLanes) this.#clearOut();
    } else if (event.inFlight) {
      lane.turn ??= this.#turns.push(lane);
    }
    event.inFlight = false;
  }

  /** The event was not sent: its lane waits no longer, behind the other lanes. */
  putBack(event: QueuedEvent): void {
    event.inFlight = false;
    const lane = this.#lanes.get(event.sessionId);
    if (lane && lane.events.length > 0) lane.turn ??= this.#turns.push(lane);
  }

  /** The oldest event that only memory holds and that can still be dropped; important ones only when asked for. */
  oldest(important: boolean): QueuedEvent | undefined {
    for (const event of important ? this.#important : this.#ordinary) {
      if (!event.inFlight) return event;
    }
    return undefined;
  }

  /** The oldest ordinary event that can be dropped though the journal holds it too. */
  get oldestDurable(): QueuedEvent | undefined {
    let found: QueuedEvent | undefined;
    for (const { events } of this.#lanes.values()) {
      for (const event of events) {
        if (event.isImportant || event.inFlight || event.ageNode) continue;
        if (!found || event.eventId < found.eventId) found = event;
        break;
      }
    }
    return found;
  }

  /** The event that has waited longest among the first of all sessions. */
  get longestWaiting(): QueuedEvent | undefined {
    let found: QueuedEvent | undefined;
    for (const { events } of this.#lanes.values()) {
      const event = events.first;
      if (event && (!found || event.eventId < found.eventId)) found = event;
    }
    return found;
  }

  #unhold(event: QueuedEvent): void {
    if (event.laneNode) this.#held.remove(event.laneNode);
    event.laneNode = undefined;
    event.isHeld = false;
    this.#length -= 1;
  }

  #clearOut(): void {
    for (const lane of [...this.#lanes.values()]) {
      if (lane.events.length === 0) this.#lanes.delete(lane.sessionId);
    }
    this.#emptyLanes = 0;
  }

  #ageList(event: QueuedEvent): LinkedList<QueuedEvent> {
    return event.isImportant ? this.#important : this.#ordinary;
  }
}
