import { randomUUID } from 'node:crypto';
import { type Json, Refusal } from './refusal.ts';
import { validateEvent } from './validate-event.ts';

interface Session {
  readonly events: Json[];
  reads: number;
}

/** Number of reads of a session until its events appear: accepted events can be read a little later. */
const readsUntilSettled = 2;

/** Data of one tenant of the foreign service. */
export class ForeignTenant {
  readonly #sessions = new Map<string, Session>();
  readonly #eventIds = new Set<string>();
  readonly agents = new Map<string, Json>();
  readonly policies = new Map<string, Json>();
  readonly channels: Json[] = [];
  readonly held = new Map<string, Json>();
  #numbers = 1000;

  /** Returns a number that is unique within the tenant. */
  newNumber(): string {
    this.#numbers += 1;
    return String(this.#numbers);
  }

  /** Records an event: of one category only, and every eventId once. */
  record(event: Json): void {
    validateEvent(event);
    const id = String(event.eventId);
    if (this.#eventIds.has(id)) throw new Refusal(409, 'duplicate', 'The event was taken before.');
    this.#eventIds.add(id);
    const sessionId = String(event.sessionId);
    const session = this.#sessions.get(sessionId) ?? { events: [], reads: 0 };
    session.events.push({ ...event, shard: 3 });
    this.#sessions.set(sessionId, session);
  }

  /** Returns the events of a session once it has settled. */
  events(id: string): readonly Json[] {
    const session = this.#sessions.get(id);
    if (session) session.reads += 1;
    if (!session || session.reads <= readsUntilSettled)
      throw new Refusal(404, 'nothing-here', 'There is no such thing.');
    return session.events;
  }

  /** Returns the sessions, oldest first. */
  sessions(agentId?: string): Json[] {
    return [...this.#sessions]
      .filter(([, { events }]) => agentId === undefined || events.some((event) => event.agentId === agentId))
      .map(([key, { events }]) => ({ session: { key }, size: events.length }));
  }

  /** Checks an action; an action that a policy holds waits for approval. */
  check(who: unknown): Json {
    const holds = [...this.policies.values()].some(({ hold }) => hold !== undefined && hold === who);
    if (!holds) return { verdict: 'fine' };
    const ticket = randomUUID();
    this.held.set(ticket, { ticket, who });
    return { verdict: 'wait' };
  }
}
