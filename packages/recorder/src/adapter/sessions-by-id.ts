import { processWide } from '../lib/process-wide.ts';

/** Number of ids remembered, newest first. The end of a conversation is not reported. */
const maxIds = 10_000;

/**
 * Sessions of conversations that continue by an id alone, such as that of the previous response. Shared by all copies
 * of an adapter in this process.
 */
export class SessionsById {
  readonly #sessions: () => Map<string, string>;

  /** @param name - name of the symbol on `globalThis` (`Symbol.for`) that stores them */
  constructor(name: string) {
    this.#sessions = processWide(name, () => new Map());
  }

  /** Returns the session noted for an id. */
  get(id: string | null | undefined): string | undefined {
    return id ? this.#sessions().get(id) : undefined;
  }

  /** Notes the session of an id, if both are known. */
  note(id: string | null | undefined, sessionId: string | undefined): void {
    if (!id || !sessionId) return;
    const sessions = this.#sessions();
    sessions.delete(id);
    sessions.set(id, sessionId);
    if (sessions.size > maxIds) sessions.delete(sessions.keys().next().value as string);
  }
}
