import type { BodyOf, ItemOf, QueryOf, ResponseOf } from '@actlog/protocol';
import type { Caller } from '../caller.ts';
import { List } from '../list.ts';
import type { ListOptions, RequestOptions } from '../request-options.ts';
import type { RequestPromise } from '../request-promise.ts';

/** The guardian: actions that wait for a person. */
export class Guardian {
  /** The actions that wait. */
  readonly pendingActions: PendingActions;

  /** @internal */
  constructor(caller: Caller) {
    this.pendingActions = new PendingActions(caller);
  }
}

/** Actions that wait for a person. */
export class PendingActions {
  readonly #caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists actions, those that still wait unless asked otherwise: `GET /v1/guardian/pending-actions`. */
  list(
    query: QueryOf<'guardian.pendingActions.list'> = {},
    options: ListOptions = {},
  ): List<ItemOf<'guardian.pendingActions.list'>> {
    return new List(this.#caller, { endpoint: 'guardian.pendingActions.list', query, options });
  }

  /**
   * Decides an action: `POST /v1/guardian/pending-actions/:id/decide`. From a service that answers without a body you
   * get the `id` alone.
   */
  decide(
    id: string,
    body: BodyOf<'guardian.pendingActions.decide'>,
    options?: RequestOptions,
  ): RequestPromise<ResponseOf<'guardian.pendingActions.decide'>> {
    return this.#caller.call('guardian.pendingActions.decide', { id, body, options });
  }
}
