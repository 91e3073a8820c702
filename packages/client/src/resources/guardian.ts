import type { BodyOf, ItemOf, QueryOf, ResponseOf } from '@actlog/protocol';
import { List } from '../pagination/list.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ListOptions, RequestOptions } from '../request/request-options.ts';
import type { RequestPromise } from '../request/request-promise.ts';

/** The guardian: actions held for a person's decision. */
export class Guardian {
  /** The held actions. */
  readonly pendingActions: PendingActions;

  /** @internal */
  constructor(caller: EndpointCaller) {
    this.pendingActions = new PendingActions(caller);
  }
}

/** Actions held for a person's decision. */
export class PendingActions {
  readonly #caller: EndpointCaller;

  /** @internal */
  constructor(caller: EndpointCaller) {
    this.#caller = caller;
  }

  /** Lists actions, by default those still pending: `GET /v1/guardian/pending-actions`. */
  list(
    query: QueryOf<'guardian.pendingActions.list'> = {},
    options: ListOptions = {},
  ): List<ItemOf<'guardian.pendingActions.list'>> {
    return new List(this.#caller, { endpoint: 'guardian.pendingActions.list', query, options });
  }

  /**
   * Decides an action: `POST /v1/guardian/pending-actions/:id/decide`. If the service responds without a body, the
   * result has only the `id`.
   */
  decide(
    id: string,
    body: BodyOf<'guardian.pendingActions.decide'>,
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'guardian.pendingActions.decide'>> {
    return this.#caller.call('guardian.pendingActions.decide', { id, body, options });
  }
}
