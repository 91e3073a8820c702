import type { PluginInput } from '@opencode-ai/plugin';

/** Longest chain of sessions that is followed to its root. */
const maxDepth = 16;

/** Place of a session of opencode. */
export interface SessionPlace {
  /** Session of the chat: the root of the sessions of its subagents. */
  readonly sessionId: string;
  /** Name of the subagent that the session belongs to; undefined for the chat itself. */
  readonly subagent: string | undefined;
}

/** Sessions of opencode. Each subagent has one, whose parent is the session that started it. */
export class Sessions {
  readonly #client: Pick<PluginInput['client'], 'session'>;
  /** Parents of sessions; `undefined` for a root. */
  readonly #parents = new Map<string, string | undefined>();
  readonly #agents = new Map<string, string>();

  constructor(client: Pick<PluginInput['client'], 'session'>) {
    this.#client = client;
  }

  /** Remembers a session as opencode reports it. */
  note({ id, parentID }: { readonly id: string; readonly parentID?: string | undefined }): void {
    this.#parents.set(id, parentID);
  }

  /** Remembers the agent that a message of a session is for. */
  rememberAgent(id: string, agent: string): void {
    this.#agents.set(id, agent);
  }

  /** Forgets a session that was deleted. */
  forget(id: string): void {
    this.#parents.delete(id);
    this.#agents.delete(id);
  }

  /** Returns the sessions around a session, nearest first, as far as they are known. */
  above(id: string): string[] {
    const found: string[] = [];
    let parent = this.#parents.get(id);
    while (parent !== undefined && found.length < maxDepth) {
      found.push(parent);
      parent = this.#parents.get(parent);
    }
    return found;
  }

  /** Returns the chat and the subagent of a session. */
  async placeOf(id: string): Promise<SessionPlace> {
    let root = id;
    for (let depth = 0; depth < maxDepth; depth += 1) {
      const parent = await this.#parentOf(root);
      if (parent === undefined) break;
      root = parent;
    }
    return { sessionId: root, subagent: root === id ? undefined : (this.#agents.get(id) ?? 'subagent') };
  }

  async #parentOf(id: string): Promise<string | undefined> {
    if (this.#parents.has(id)) return this.#parents.get(id);
    try {
      const { data } = await this.#client.session.get({ path: { id } });
      if (data) this.note(data);
      return data?.parentID;
    } catch {
      return undefined; // opencode does not know it: it counts as a chat
    }
  }
}
