import { processWide } from '../process-wide.ts';

/** Ids that are remembered: the newest. A conversation that nobody goes on with tells nothing of its end. */
const maxIds = 10_000;

/**
 * The sessions of what a conversation is gone on with by an id alone, such as the response before. They are the same
 * for all copies of an adapter in this process.
 */
export class SessionsById {
  readonly #sessions: () => Map<string, string>;

  /** @param name - of the symbol on `globalThis` (`Symbol.for`) that they are kept by */
  constructor(name: string) {
    this.#sessions = processWide(name, () => new Map());
  }

  /** The session that was noted for an id. */
  get(id: string | null | undefined): string | undefined {
    return id ? this.#sessions().get(id) : undefined;
  }

  /** Notes the session of an id, where both are known. */
  note(id: string | null | undefined, sessionId: string | undefined): void {
    if (!id || !sessionId) return;
    const sessions = this.#sessions();
    sessions.delete(id);
    sessions.set(id, sessionId);
    if (sessions.size > maxIds) sessions.delete(sessions.keys().next().value as string);
  }
}
