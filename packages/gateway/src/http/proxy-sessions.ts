import { OpenCalls } from '../relay/open-calls.ts';

/** Maximum number of sessions to remember. */
const maxSessions = 10_000;

/** Session of an HTTP client with an HTTP server, over all of its exchanges. */
export interface ProxySession {
  /** Id of the transport's session; undefined for an exchange without one. */
  readonly id: string | undefined;
  readonly open: OpenCalls;
  /** Name that the client gave itself. */
  clientName: string | undefined;
}

/** Sessions of a proxy, by the ids that the server gives them. */
export class ProxySessions {
  readonly #byId = new Map<string, ProxySession>();

  /** Returns the session with an id, or a new one for an exchange without an id. */
  get(id: string | undefined): ProxySession {
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known) return known;
    const session = { id, open: new OpenCalls(), clientName: undefined };
    if (id !== undefined) this.#add(id, session);
    return session;
  }

  /** Gives the session of an `initialize` request the id of its response. */
  begin(id: string, { open, clientName }: ProxySession): void {
    if (!this.#byId.has(id)) this.#add(id, { id, open, clientName });
  }

  /** Forgets a session, and ends its calls. */
  end(id: string): void {
    const session = this.#byId.get(id);
    this.#byId.delete(id);
    const reason = new DOMException('The client ended the session.', 'AbortError');
    for (const call of session?.open.all() ?? []) call.cancel(reason);
  }

  /** Returns all sessions. */
  all(): ProxySession[] {
    return [...this.#byId.values()];
  }

  #add(id: string, session: ProxySession): void {
    this.#byId.set(id, session);
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > maxSessions && oldest !== undefined) this.#byId.delete(oldest);
  }
}
