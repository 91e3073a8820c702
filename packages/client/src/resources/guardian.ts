import type { Decide, PendingAction, QueryOf } from '@actlog/protocol';
import type { WatchOptions } from '../guardian/watch-pending-actions.ts';
import { onEarlyReturn } from '../pagination/item-sequence.ts';
import { List } from '../pagination/list.ts';
import type { RecordId } from '../records/id-of.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ListOptions, RequestOptions } from '../request/request-options.ts';
import type { RequestPromise } from '../request/request-promise.ts';
import type { Settings } from '../settings.ts';

/** The guardian: actions held for a person's decision. */
export class Guardian {
  /** The held actions. */
  readonly pendingActions: PendingActions;

  /** @internal */
  constructor(caller: EndpointCaller, settings: Settings) {
    this.pendingActions = new PendingActions(caller, settings);
  }
}

/** Actions held for a person's decision. */
export class PendingActions {
  readonly #caller: EndpointCaller;
  readonly #settings: Settings;

  /** @internal */
  constructor(caller: EndpointCaller, settings: Settings) {
    this.#caller = caller;
    this.#settings = settings;
  }

  /**
   * Lists actions, by default those still pending: `GET /v1/guardian/pending-actions`.
   *
   * @example
   * ```ts
   * for await (const action of client.guardian.pendingActions.list({ agentId: 'billing' })) {
   *   console.log(action.id, action.action?.toolName);
   * }
   * ```
   */
  list(query: QueryOf<'guardian.pendingActions.list'> = {}, options: ListOptions = {}): List<PendingAction> {
    return new List(this.#caller, { endpoint: 'guardian.pendingActions.list', query, options });
  }

  /**
   * Decides an action: `POST /v1/guardian/pending-actions/:id/decide`. If the service responds without a body, the
   * result has only the `id`.
   *
   * @example
   * ```ts
   * const id = 'pac_0198c1d2e3f47a5b8c6d7e8f90a1b2c3';
   * await client.guardian.pendingActions.decide(id, { decision: 'deny', comment: 'Ask the customer first.' });
   * ```
   */
  decide(id: RecordId, body: Decide, options?: RequestOptions): RequestPromise<PendingAction> {
    return this.#caller.call('guardian.pendingActions.decide', { id, body, options });
  }

  /**
   * Watches for actions: gives those that are pending now, then each further one as it appears, every action once and
   * the oldest first. It polls the list, more slowly while nothing appears, and honors `Retry-After`. A broken
   * connection, 429 or 5xx is logged as a warning and polling continues; other errors are thrown. Aborting the signal
   * ends the loop without an error, and `break` ends it as usual.
   *
   * @throws ActlogError When the service refuses to list the actions, for example for a key without permission.
   * @throws InvalidArgumentError When an option is invalid, or an action has no recognizable id (see `idKey`).
   *
   * @example
   * ```ts
   * const controller = new AbortController();
   * process.once('SIGINT', () => controller.abort());
   * for await (const action of client.guardian.pendingActions.watch({ signal: controller.signal })) {
   *   const decision = action.action?.toolName === 'refund' ? 'approve' : 'deny';
   *   await client.guardian.pendingActions.decide(action.id, { decision });
   * }
   * ```
   */
  watch(options: WatchOptions = {}): AsyncGenerator<PendingAction, undefined> {
    const left = new AbortController();
    return onEarlyReturn(this.#watch(options, left.signal), () => left.abort());
  }

  /** @param left Aborted when the loop has ended. */
  async *#watch(options: WatchOptions, left: AbortSignal): AsyncGenerator<PendingAction, undefined> {
    // Loaded on demand, because most programs never watch.
    const { watchPendingActions } = await import('../guardian/watch-pending-actions.ts');
    return yield* watchPendingActions(this, this.#settings, options, left);
  }
}
