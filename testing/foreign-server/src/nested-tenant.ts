import { found, isJson, type Json, nothing, Refusal } from './refusal.ts';
import { validateEvent } from './validate-event.ts';

/** A record, with the number of the request that wrote it. */
interface Written {
  readonly record: Json;
  readonly at: number;
}

/** Number of later requests after which a record can be read: every record appears a little late. */
const lag = 3;

/** First number of a kind of records; numbers of two kinds are never equal. */
const firstNumbers = { agents: 41_000, rules: 52_000, holds: 7, hooks: 63_000 } as const;

type Kind = keyof typeof firstNumbers;

/** Data of one tenant of the nested service: records with numbers, which appear late. */
export class NestedTenant {
  readonly #clock: () => number;
  readonly #records: Readonly<Record<Kind, Map<number, Written>>> = {
    agents: new Map(),
    rules: new Map(),
    holds: new Map(),
    hooks: new Map(),
  };
  readonly #events = new Map<string, Written>();

  /** `clock` counts the requests that the service received. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Stores a record under the next number of its kind; returns the number. */
  add(kind: Kind, record: (number: number) => Json): number {
    const number = firstNumbers[kind] + this.#records[kind].size;
    this.#records[kind].set(number, { record: record(number), at: this.#clock() });
    return number;
  }

  /** Returns the record with a number; throws the refusal of an unknown one. */
  get(kind: Kind, number: string): Json {
    const written = this.#records[kind].get(Number(number));
    return this.#isVisible(written) ? found(written?.record) : nothing();
  }

  /** Returns the records of a kind, newest first. */
  all(kind: Kind): Json[] {
    const visible = [...this.#records[kind].values()].filter((written) => this.#isVisible(written));
    return visible.map(({ record }) => record).reverse();
  }

  /** Records an event once, whatever the case of its id; the agent must be registered. */
  record(event: Json): void {
    validateEvent(event);
    if (!this.#records.agents.has(Number(event.agentId)))
      throw new Refusal(422, 'VALIDATION_ERROR', 'agentId is not that of a registered agent.');
    const id = String(event.eventId).toLowerCase();
    if (!this.#events.has(id)) this.#events.set(id, { record: event, at: this.#clock() });
  }

  /** Returns the events of a session; throws the refusal of an unknown one. */
  events(sessionId: string): Json[] {
    const events = this.#visibleEvents().filter((event) => event.sessionId === sessionId);
    return events.length > 0 ? events : nothing();
  }

  /** Returns the sessions, those of one agent if given, oldest first. */
  sessions(agentId?: string): Json[] {
    const mine = this.#visibleEvents().filter((event) => agentId === undefined || event.agentId === agentId);
    const keys = [...new Set(mine.map(({ sessionId }) => sessionId))];
    return keys.map((key) => ({ about: { key, size: this.events(String(key)).length } }));
  }

  /** Checks an action; a rule that is on holds the actions of its agent until they are decided. */
  check({ subject, run }: Json): Json {
    if (!this.#records.agents.has(Number(subject)))
      throw new Refusal(422, 'VALIDATION_ERROR', 'subject is not that of a registered agent.');
    const rule = [...this.#records.rules.values()].find(({ record }) => {
      const content = isJson(record.rule) ? record.rule : {};
      return content.mode === 'on' && content.pause === subject;
    });
    if (!rule) return { outcome: { word: 'go' } };
    this.add('holds', (ref) => ({
      ref,
      life_state: 'waiting',
      proposal: { agentId: subject, run },
      because_of: { agentGroup: 1 },
    }));
    return { outcome: { word: 'stop' } };
  }

  #visibleEvents(): Json[] {
    return [...this.#events.values()]
      .filter((written) => this.#isVisible(written))
      .map(({ record }) => record);
  }

  #isVisible(written: Written | undefined): boolean {
    return written !== undefined && this.#clock() - written.at > lag;
  }
}
