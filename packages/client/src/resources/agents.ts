import type { Agent, AgentCreate, AgentUpdate, QueryOf, Session } from '@actlog/protocol';
import { List } from '../pagination/list.ts';
import type { RecordId } from '../records/id-of.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ListOptions, RequestOptions } from '../request/request-options.ts';
import type { RequestPromise } from '../request/request-promise.ts';
import type { SessionFilters } from './sessions.ts';

/** Agents of the tenant. */
export class Agents {
  readonly #caller: EndpointCaller;

  /** @internal */
  constructor(caller: EndpointCaller) {
    this.#caller = caller;
  }

  /**
   * Registers an agent: `POST /v1/agents`.
   *
   * @example
   * ```ts
   * const agent = await client.agents.create({ id: 'billing', name: 'Billing agent' });
   * ```
   */
  create(body: AgentCreate, options?: RequestOptions): RequestPromise<Agent> {
    return this.#caller.call('agents.create', { body, options });
  }

  /**
   * Lists agents: `GET /v1/agents`.
   *
   * @example
   * ```ts
   * for await (const agent of client.agents.list({ registered: false })) console.log(agent.id);
   * ```
   */
  list(query: QueryOf<'agents.list'> = {}, options: ListOptions = {}): List<Agent> {
    return new List(this.#caller, { endpoint: 'agents.list', query, options });
  }

  /**
   * Gets an agent: `GET /v1/agents/:id`.
   *
   * @example
   * ```ts
   * const agent = await client.agents.get('billing');
   * console.log(agent.status, agent.lastSeenAt);
   * ```
   */
  get(id: RecordId, options?: RequestOptions): RequestPromise<Agent> {
    return this.#caller.call('agents.get', { id, options });
  }

  /**
   * Changes the given fields of an agent: `PATCH /v1/agents/:id`. If the service responds without a body, the result
   * has only the `id`.
   *
   * @example
   * ```ts
   * await client.agents.update('billing', { status: 'revoked' });
   * ```
   */
  update(id: RecordId, body: AgentUpdate, options?: RequestOptions): RequestPromise<Agent> {
    return this.#caller.call('agents.update', { id, body, options });
  }

  /**
   * Lists the sessions of an agent: `GET /v1/agents/:id/sessions`.
   *
   * @example
   * ```ts
   * const newest = await client.agents.sessions('billing').toArray({ limit: 10 });
   * ```
   */
  sessions(
    id: RecordId,
    query: SessionFilters<'agents.sessions'> = {},
    options: ListOptions = {},
  ): List<Session> {
    return new List(this.#caller, { endpoint: 'agents.sessions', id, query, options });
  }
}
