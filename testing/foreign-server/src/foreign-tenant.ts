import { randomUUID } from 'node:crypto';

/** A JSON object. */
export type Json = Record<string, unknown>;

/** Error response of the service. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface Session {
  readonly events: Json[];
  reads: number;
}

/** Number of reads of a session until its events appear: accepted events can be read a little later. */
const readsUntilSettled = 2;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

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
    this.#validate(event);
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

  #validate({ eventId, agentId, sessionId, sourceTimestamp, category, schemaVersion, payload }: Json): void {
    const { toolName, argumentsHash, responseStatus } = isJson(payload) ? payload : {};
    const rules: readonly (readonly [boolean, string])[] = [
      [typeof eventId === 'string' && uuid.test(eventId), 'eventId'],
      [isText(agentId), 'agentId'],
      [isText(sessionId), 'sessionId'],
      [
        sourceTimestamp === undefined || (isText(sourceTimestamp) && utc.test(sourceTimestamp)),
        'sourceTimestamp',
      ],
      [category === 'tool_api', 'category'],
      [schemaVersion === undefined || isText(schemaVersion), 'schemaVersion'],
      [isJson(payload), 'payload'],
      [[toolName, argumentsHash].every((value) => value === undefined || isText(value)), 'payload'],
      [responseStatus === undefined || Number.isInteger(responseStatus), 'payload.responseStatus'],
    ];
    const broken = rules.find(([holds]) => !holds);
    if (broken) throw new Refusal(422, 'VALIDATION_ERROR', `${broken[1]} is not as it should be.`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** `true` if a value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
