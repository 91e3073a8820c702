import type { Actlog, Session } from '@actlog/client';

/** Time before now in which sessions may still appear, in milliseconds: clocks of agents differ, and events are late. */
const windowMs = 3_600_000;

/** Reads the sessions of a tenant, or of one agent, that earlier reads have not given. */
export class SessionFollower {
  readonly #client: Actlog;
  readonly #agentId: string | undefined;
  /** Start time of the sessions that were given, by id. */
  readonly #seen = new Map<string, number>();

  constructor(client: Actlog, agentId: string | undefined) {
    this.#client = client;
    this.#agentId = agentId;
  }

  /** Gives the sessions that started in the last hour and that no earlier read gave, oldest first. */
  async *read(signal: AbortSignal): AsyncGenerator<Session, void> {
    const startMs = Date.now() - windowMs;
    const query = { limit: 200, startedAfter: new Date(startMs), agentId: this.#agentId };
    const unseen: Session[] = [];
    for await (const { items } of this.#client.sessions.list(query, { signal }).pages()) {
      const news = items.filter(({ id }) => !this.#seen.has(id));
      unseen.push(...news);
      // The newest come first, so the pages behind one without news have none either.
      if (news.length === 0) break;
    }
    for (const session of unseen.reverse()) {
      this.#seen.set(session.id, Date.parse(session.startedAt ?? '') || Date.now());
      yield session;
    }
    for (const [id, startedMs] of this.#seen) if (startedMs < startMs) this.#seen.delete(id);
  }
}
