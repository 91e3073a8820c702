import { randomUUID } from 'node:crypto';
import type { ActivityEvent } from '@actlog/protocol';
import { type Answer, succeeded, told } from '../http/answer.ts';
import { holds } from '../http/json-search.ts';
import type { Sent } from '../http/probe.ts';
import { skip } from '../outcome.ts';
import type { Deployment } from './deployment.ts';
import { newEvent } from './event.ts';
import type { Records } from './records.ts';

/** A session that the run has sent events to. */
export interface MadeSession {
  readonly id: string;
  readonly agentId: string;
  readonly events: readonly ActivityEvent[];
}

/** What a run has sent. */
export interface Sessions {
  /** The session with three events. */
  readonly main: MadeSession;
  /** All sessions of the same agent, `main` among them. */
  readonly ofAgent: readonly MadeSession[];
  /** A session of another agent. */
  readonly other: MadeSession;
}

/** Sessions of the agent that lists are paged through: an odd number, so that the last page is not full. */
const sessionsOfAgent = 5;

/** The events that a run sends, when a check first needs them. */
export class Traffic {
  readonly #deployment: Deployment;
  readonly #records: Records;
  #sessions: Promise<Sessions> | undefined;
  /** How many events were taken. */
  taken = 0;

  constructor(deployment: Deployment, records: Records) {
    this.#deployment = deployment;
    this.#records = records;
  }

  /** Sends an event, or any body in its place; skips the check where the key may not. */
  post(body: unknown, headers: Readonly<Record<string, string | null>> = {}): Promise<Answer> {
    return this.#post({ body, headers });
  }

  /** Sends a text in place of an event; skips the check where the key may not. */
  postText(rawBody: string): Promise<Answer> {
    return this.#post({ rawBody });
  }

  async #post(sent: Sent): Promise<Answer> {
    const answer = await this.#deployment.probe.call('events.create', sent);
    if (answer.status === 403) skip(`the key may not do this: ${told(answer)}`);
    if (succeeded(answer)) this.taken += 1;
    return answer;
  }

  /** An event of an agent and a session of its own, but for what the fields say. */
  event(fields: Partial<ActivityEvent> = {}): ActivityEvent {
    const { prefix } = this.#deployment;
    return newEvent({ agentId: `${prefix}-probe`, sessionId: `${prefix}-probe`, ...fields });
  }

  /** The sessions of the run; skips the check where events are not taken. */
  sessions(): Promise<Sessions> {
    this.#sessions ??= this.#send();
    return this.#sessions;
  }

  /** The sessions of the run, once their events can be read; skips the check where they cannot. */
  async settled(): Promise<Sessions> {
    const sessions = await this.sessions();
    const detail = await this.detail(sessions.main);
    if (!this.isWhole(detail, sessions.main)) skip('the events of a session cannot be read (END-03)');
    return sessions;
  }

  /** The answer about a session, asked for until it holds its events. */
  async detail(session: MadeSession): Promise<Answer> {
    return this.#deployment.eventually(
      () => this.#deployment.probe.call('sessions.get', { id: session.id }),
      (answer) => this.isWhole(answer, session),
    );
  }

  /** Whether an answer holds every event of a session. */
  isWhole(answer: Answer, session: MadeSession): boolean {
    return succeeded(answer) && session.events.every(({ eventId }) => holds(answer.json, eventId));
  }

  async #send(): Promise<Sessions> {
    const [first, second] = [await this.#agentId(1), await this.#agentId(2)];
    const ofAgent: MadeSession[] = [];
    for (let number = 1; number <= sessionsOfAgent; number += 1) {
      ofAgent.push(await this.#session(first, number === 1 ? 3 : 1));
    }
    const other = await this.#session(second, 1);
    return { main: ofAgent[0] as MadeSession, ofAgent, other };
  }

  /** The id of a registered agent, or, where none can be registered, one that was made up. */
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
      const answer = await this.post(event);
      if (!succeeded(answer)) skip(`events are not taken (END-01): ${told(answer)}`);
      events.push(event);
    }
    return { id, agentId, events };
  }
}
