import type { Actlog } from '@actlog/client';
import { LinkedList, type ListNode } from '../lib/linked-list.ts';

/** Number of empty queues in the map before they are removed together. */
const maxEmptyQueues = 1_000;

/** Events of one session, sent one after another. */
interface SessionQueue {
  readonly sessionId: string;
  readonly events: LinkedList<QueuedEvent>;
  /** Node in the list of queues that could send now; undefined while the first event is in flight or delayed. */
  turn: ListNode<SessionQueue> | undefined;
}

/**
 * The queue in memory. Each session has its own queue with at most one event in flight, so that its order is kept even
 * if requests fail. The queues take turns, so that a busy session does not delay the others.
 */
export class SessionQueues {
  /**
   * Includes empty queues: a map whose entries change with every event leaves a chain of old tables, which delays
   * garbage collection.
   */
  readonly #queues = new Map<string, SessionQueue>();
  #emptyQueues = 0;
  readonly #turns = new LinkedList<SessionQueue>();
  /** Events that are only in memory, by age: candidates for dropping. */
  readonly #ordinary = new LinkedList<QueuedEvent>();
  readonly #important = new LinkedList<QueuedEvent>();
  /** Events held outside the queues until older ones have been read from the journal. */
  readonly #held = new LinkedList<QueuedEvent>();
  #length = 0;

  /** Number of events, including those in flight and held. */
  get length(): number {
    return this.#length;
  }

  /** Number of events that are only in memory. */
  get volatileLength(): number {
    return this.#ordinary.length + this.#important.length;
  }

  /** Number of held events. */
  get heldLength(): number {
    return this.#held.length;
  }

  /** Adds an event that is only in memory and is sent after {@link releaseHeld}. */
  hold(event: QueuedEvent): void {
    event.isHeld = true;
    event.queueNode = this.#held.push(event);
    event.ageNode = this.#ageList(event).push(event);
    this.#length += 1;
  }

  /** Moves the held events to their queues. */
  releaseHeld(): void {
    for (let event = this.#held.first; event; event = this.#held.first) {
      this.#unhold(event);
      this.push(event);
    }
  }

  /** Appends an event to its session's queue. */
  push(event: QueuedEvent): void {
    let queue = this.#queues.get(event.sessionId);
    if (!queue) {
      queue = { sessionId: event.sessionId, events: new LinkedList(), turn: undefined };
      this.#queues.set(event.sessionId, queue);
      this.#emptyQueues += 1;
    }
    if (queue.events.length === 0) {
      this.#emptyQueues -= 1;
      queue.turn = this.#turns.push(queue);
    }
    event.queueNode = queue.events.push(event);
    if (!event.place) event.ageNode ??= this.#ageList(event).push(event);
    this.#length += 1;
  }

  /** Returns `true` if the session has queued events. */
  hasMoreOf(sessionId: string): boolean {
    return (this.#queues.get(sessionId)?.events.length ?? 0) > 0;
  }

  /** Notes that an event is now only in memory. */
  becameVolatile(event: QueuedEvent): void {
    if (event.queueNode) event.ageNode ??= this.#ageList(event).push(event);
  }

  /** Notes that an event is now in the journal. */
  becameDurable(event: QueuedEvent): void {
    if (event.ageNode) this.#ageList(event).remove(event.ageNode);
    event.ageNode = undefined;
  }

  /** Returns the oldest event that is only in memory, so that events written late are still in order. */
  get firstVolatile(): QueuedEvent | undefined {
    const important = this.#important.first;
    const ordinary = this.#ordinary.first;
    if (!important || !ordinary) return important ?? ordinary;
    return important.eventId < ordinary.eventId ? important : ordinary;
  }

  /** Returns the next event to send; its queue waits for {@link remove} or {@link putBack}. */
  next(): QueuedEvent | undefined {
    const queue = this.#turns.first;
    if (!queue?.turn) return undefined;
    this.#turns.remove(queue.turn);
    queue.turn = undefined;
    const event = queue.events.first as QueuedEvent;
    event.inFlight = true;
    return event;
  }

  /** Removes an event, delivered or not. If it was in flight, its session's queue may send again. */
  remove(event: QueuedEvent): void {
    if (event.isHeld) {
      this.#unhold(event);
      this.becameDurable(event);
      return;
    }
    const queue = this.#queues.get(event.sessionId);
    if (!queue || !event.queueNode) return;
    queue.events.remove(event.queueNode);
    if (event.ageNode) this.#ageList(event).remove(event.ageNode);
    this.#length -= 1;
    event.queueNode = undefined;
    event.ageNode = undefined;
    if (queue.events.length === 0) {
      if (queue.turn) this.#turns.remove(queue.turn);
      queue.turn = undefined;
      this.#emptyQueues += 1;
      if (this.#emptyQueues > maxEmptyQueues) this.#clearOut();
    } else if (event.inFlight) {
      queue.turn ??= this.#turns.push(queue);
    }
    event.inFlight = false;
  }

  /** Returns an event that was not sent. Its session's queue may send again, after the others. */
  putBack(event: QueuedEvent): void {
    event.inFlight = false;
    const queue = this.#queues.get(event.sessionId);
    if (queue && queue.events.length > 0) queue.turn ??= this.#turns.push(queue);
  }

  /** Returns the oldest droppable event that is only in memory; `important` selects the class. */
  oldest(important: boolean): QueuedEvent | undefined {
    for (const event of important ? this.#important : this.#ordinary) {
      if (!event.inFlight) return event;
    }
    return undefined;
  }

  /** Returns the oldest droppable ordinary event that is also in the journal. */
  get oldestDurable(): QueuedEvent | undefined {
    let found: QueuedEvent | undefined;
    for (const { events } of this.#queues.values()) {
      for (const event of events) {
        if (event.isImportant || event.inFlight || event.ageNode) continue;
        if (!found || event.eventId < found.eventId) found = event;
        break;
      }
    }
    return found;
  }

  /** Returns the event that has waited longest among the first events of all sessions. */
  get longestWaiting(): QueuedEvent | undefined {
    let found: QueuedEvent | undefined;
    for (const { events } of this.#queues.values()) {
      const event = events.first;
      if (event && (!found || event.eventId < found.eventId)) found = event;
    }
    return found;
  }

  #unhold(event: QueuedEvent): void {
    if (event.queueNode) this.#held.remove(event.queueNode);
    event.queueNode = undefined;
    event.isHeld = false;
    this.#length -= 1;
  }

  #clearOut(): void {
    for (const queue of [...this.#queues.values()]) {
      if (queue.events.length === 0) this.#queues.delete(queue.sessionId);
    }
    this.#emptyQueues = 0;
  }

  #ageList(event: QueuedEvent): LinkedList<QueuedEvent> {
    return event.isImportant ? this.#important : this.#ordinary;
  }
}

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

/** Integration that an event came through. Determines the `x-service-*` headers of its request. */
interface Origin {
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration, such as `@actlog/langchain/1.0.0`. */
  readonly sdk?: string | undefined;
  /** Version of the agent. */
  readonly agentVersion?: string | undefined;
}

/** An origin as stored in the journal: a JSON array of framework, sdk and agent version, perhaps with a `traceparent`. */
export type OriginKey = string;

/** Maximum length of a name or version; longer ones are truncated to bound the length of a journal line. */
const maxPartLength = 1_000;

/** Serializes an origin for the journal. */
export function originKey({ framework, sdk, agentVersion }: Origin): OriginKey {
  return JSON.stringify([shorten(framework), shorten(sdk), shorten(agentVersion)]);
}

function shorten(part: string | undefined): string | null {
  if (part === undefined || part === null) return null;
  return part.length > maxPartLength ? part.slice(0, maxPartLength) : part;
}

/** Adds the `traceparent` of a call to the origin of its event. Earlier versions of the recorder ignore it. */
export function withTraceparent(key: OriginKey, traceparent: string): OriginKey {
  return `${key.slice(0, -1)},"${traceparent}"]`;
}

/** Returns an origin without the `traceparent` that {@link withTraceparent} added, and the latter; undefined for none. */
export function splitTraceparent(key: OriginKey): readonly [OriginKey, string | undefined] {
  const at = key.length - addedLength;
  return key.startsWith(',"00-', at) ? [`${key.slice(0, at)}]`, key.slice(at + 2, -2)] : [key, undefined];
}

/** Length of what {@link withTraceparent} adds, in characters: a value of version 00 has 55. */
const addedLength = ',"'.length + 55 + '"]'.length;

/**
 * Parses an origin from the journal.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseOriginKey(key: OriginKey): Origin {
  const parts: unknown = JSON.parse(key);
  const [framework, sdk, agentVersion] = Array.isArray(parts) ? parts.map((part) => part ?? undefined) : [];
  return { framework, sdk, agentVersion };
}

/**
 * Returns a string that identifies the deployment and the tenant, for a folder of their own. May contain a secret.
 *
 * @param tenant - used instead of the key
 */
export function tenantSecret(client: Actlog, tenant: string | undefined): string {
  const { baseURL } = client;
  if (tenant) return `${baseURL}\ntenant ${tenant}`;
  return `${baseURL}\n${client.headers().authorization ?? ''}`;
}
