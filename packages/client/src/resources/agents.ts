import type { BodyOf, ItemOf, QueryOf, ResponseOf } from '@actlog/protocol';
import { List } from '../pagination/list.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ListOptions, RequestOptions } from '../request/request-options.ts';
import type { RequestPromise } from '../request/request-promise.ts';
import type { SessionFilters } from './session-filters.ts';

/** Agents of the tenant. */
export class Agents {
  readonly #caller: EndpointCaller;

  /** @internal */
  constructor(caller: EndpointCaller) {
    this.#caller = caller;
  }

  /** Registers an agent: `POST /v1/agents`. */
  create(
    body: BodyOf<'agents.create'>,
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'agents.create'>> {
    return this.#caller.call('agents.create', { body, options });
  }

  /** Lists agents: `GET /v1/agents`. */
  list(query: QueryOf<'agents.list'> = {}, options: ListOptions = {}): List<ItemOf<'agents.list'>> {
    return new List(this.#caller, { endpoint: 'agents.list', query, options });
  }

  /** Gets an agent: `GET /v1/agents/:id`. */
  get(id: string, options?: RequestOptions): RequestPromise<ResponseOf<'agents.get'>> {
    return this.#caller.call('agents.get', { id, options });
  }

  /**
   * Changes the given fields of an agent: `PATCH /v1/agents/:id`. If the service responds without a body, the result
   * has only the `id`.
   */
  update(
    id: string,
    body: BodyOf<'agents.update'>,
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'agents.update'>> {
    return this.#caller.call('agents.update', { id, body, options });
  }

  /** Lists the sessions of an agent: `GET /v1/agents/:id/sessions`. */
  sessions(
    id: string,
    query: SessionFilters<'agents.sessions'> = {},
    options: ListOptions = {},
  ): List<ItemOf<'agents.sessions'>> {
    return new List(this.#caller, { endpoint: 'agents.sessions', id, query, options });
  }
}
