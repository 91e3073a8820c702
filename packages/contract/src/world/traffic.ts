import { randomUUID } from 'node:crypto';
import type { ActivityEvent } from '@actlog/protocol';
import {
  type ApiResponse,
  describeResponse,
  isObject,
  type JsonObject,
  mentions,
  succeeded,
} from '../http/api-response.ts';
import type { Sent } from '../http/probe.ts';
import { fail, skip } from '../outcome.ts';
import type { Deployment } from './deployment.ts';
import { newEvent, recordsOf } from './event-record.ts';
import type { Records } from './records.ts';

/** A session that the run sent events to. */
export interface MadeSession {
  readonly id: string;
  readonly agentId: string;
  readonly events: readonly ActivityEvent[];
}

/** Sessions of a run. */
export interface Sessions {
  /** The session with many events. */
  readonly main: MadeSession;
  /** All sessions of the same agent, including `main`. */
  readonly ofAgent: readonly MadeSession[];
  /** A session of another agent. */
  readonly other: MadeSession;
}

/** Number of the agent's sessions for pagination: odd, so that the last page is not full. */
const sessionsOfAgent = 5;

/** Number of events in the main session: more than any small page has. */
const eventsOfMain = 12;

/** Number of the agent to which events belong that are about something else. */
const probeAgent = 90;

/** Events of a run, sent when a check first needs them. */
export class Traffic {
  readonly #deployment: Deployment;
  readonly #records: Records;
  #sessions: Promise<Sessions> | undefined;
  #settled: Promise<Sessions> | undefined;
  #probeAgentId: string;
  /** Number of accepted events. */
  taken = 0;

  constructor(deployment: Deployment, records: Records) {
    this.#deployment = deployment;
    this.#records = records;
    this.#probeAgentId = `${deployment.prefix}-probe`;
  }

  /** Registers the agent of the events that {@link Traffic.event} creates: a deployment may refuse other agents. */
  async prepare(): Promise<void> {
    this.#probeAgentId = await this.#agentId(probeAgent);
  }

  /** Id of a registered agent, or a made-up one if none can be registered. */
  get probeAgentId(): string {
    return this.#probeAgentId;
  }

  /**
   * Fails unless an event was accepted; skips the check if its agent could not be registered, because a deployment may
   * refuse the events of other agents.
   */
  async expectTaken(response: ApiResponse): Promise<void> {
    if (succeeded(response)) return;
    const { response: registered } = await this.#records.made('agents', probeAgent);
    if (!succeeded(registered) && response.status < 500) {
      this.#records.taken('agents.create', registered);
      skip(`the event was rejected, but its agent could not be registered: ${describeResponse(registered)}`);
    }
    fail(`${describeResponse(response)}; expected a 2xx status`);
  }

  /** Sends an event or any other body; skips the check if the key is not allowed to. */
  post(body: unknown, headers: Readonly<Record<string, string | null>> = {}): Promise<ApiResponse> {
    return this.#post({ body, headers });
  }

  /** Sends a raw body in place of an event; skips the check if the key is not allowed to. */
  postText(rawBody: string): Promise<ApiResponse> {
    return this.#post({ rawBody });
  }

  async #post(sent: Sent): Promise<ApiResponse> {
    const response = await this.#deployment.probe.call('events.create', sent);
    if (response.status === 403) skip(`the key may not do this: ${describeResponse(response)}`);
    if (succeeded(response)) this.taken += 1;
    return response;
  }

  /** Creates an event with the agent and session of the run, unless given in `fields`. */
  event(fields: Partial<ActivityEvent> = {}): ActivityEvent {
    const { prefix } = this.#deployment;
    return newEvent({ agentId: this.#probeAgentId, sessionId: `${prefix}-probe`, ...fields });
  }

  /** Returns the sessions of the run; skips the check if events are not accepted. */
  sessions(): Promise<Sessions> {
    this.#sessions ??= this.#send();
    return this.#sessions;
  }

  /** Returns the sessions of the run once their events can be read; skips the check if they cannot. */
  settled(): Promise<Sessions> {
    // Wait once: do not poll again a deployment that never shows the events.
    this.#settled ??= this.#settle();
    return this.#settled;
  }

  async #settle(): Promise<Sessions> {
    const sessions = await this.sessions();
    const detail = await this.detail(sessions.main);
    if (!this.isWhole(detail, sessions.main)) skip('the events of a session cannot be read (END-03)');
    return sessions;
  }

  /** Polls a session until it contains its events, and returns what it contains. */
  async detail(session: MadeSession): Promise<SessionRead> {
    return this.#deployment.eventually(
      () => readSession(this.#deployment, session.id),
      (read) => this.isWhole(read, session),
    );
  }

  /** `true` if a session could be read and contains every event that was sent to it. */
  isWhole({ first, document }: SessionRead, { events }: MadeSession): boolean {
    return succeeded(first) && events.every(({ eventId }) => mentions(document, eventId));
  }

  /** Returns the parts of a document that are about one event of a session. */
  recordsOf(document: unknown, { eventId }: ActivityEvent, { events }: MadeSession): JsonObject[] {
    const others = events.map((event) => event.eventId).filter((id) => id !== eventId);
    return recordsOf(document, eventId, others);
  }

  async #send(): Promise<Sessions> {
    const [first, second] = [await this.#agentId(1), await this.#agentId(2)];
    const ofAgent: MadeSession[] = [];
    for (let number = 1; number <= sessionsOfAgent; number += 1) {
      ofAgent.push(await this.#session(first, number === 1 ? eventsOfMain : 1));
    }
    const other = await this.#session(second, 1);
    return { main: ofAgent[0] as MadeSession, ofAgent, other };
  }

  /** Returns the id of a registered agent, or a made-up one if none can be registered. */
  async #agentId(number: number): Promise<string> {
    const { id } = await this.#records.made('agents', number);
    return id ?? this.#deployment.newName('agent');
  }

  async #session(agentId: string, count: number): Promise<MadeSession> {
    const id = `${this.#deployment.newName('session')}-${randomUUID().slice(0, 8)}`;
    const events: ActivityEvent[] = [];
    for (let index = 0; index < count; index += 1) {
      const sourceTimestamp = new Date(Date.now() - (count - index) * 1000).toISOString();
      const event = newEvent({ agentId, sessionId: id, sourceTimestamp });
      const response = await this.post(event);
      if (!succeeded(response)) skip(`events are not accepted (END-01): ${describeResponse(response)}`);
      events.push(event);
    }
    return { id, agentId, events };
  }
}

/** A session as it was read. */
interface SessionRead {
  /** Response to the request for the session. */
  readonly first: ApiResponse;
  /** Its body, or the bodies of all pages if the session has a `nextCursor`. */
  readonly document: unknown;
  /** Bodies of all pages. */
  readonly pages: readonly unknown[];
}

/** Reads a session with all of its events; a deployment may return them in pages. */
export async function readSession(
  { probe, settings }: Deployment,
  id: string,
  key?: string,
): Promise<SessionRead> {
  const keyed = key === undefined ? {} : { key };
  const first = await probe.call('sessions.get', { id, ...keyed });
  const pages: unknown[] = [first.json];
  const followed = new Set<string>();
  for (let page = first; pages.length < settings.maxPages; ) {
    const cursor = succeeded(page) && isObject(page.json) ? page.json.nextCursor : undefined;
    if (typeof cursor !== 'string' || cursor === '' || followed.has(cursor)) break;
    followed.add(cursor);
    page = await probe.call('sessions.get', { id, query: { cursor }, ...keyed });
    if (!succeeded(page)) break;
    pages.push(page.json);
  }
  return { first, document: pages.length === 1 ? first.json : pages, pages };
}
