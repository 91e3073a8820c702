import type {
  NotificationChannel,
  NotificationChannelCreate,
  NotificationChannelCreated,
  QueryOf,
} from '@actlog/protocol';
import { List } from '../pagination/list.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ListOptions, RequestOptions } from '../request/request-options.ts';
import type { RequestPromise } from '../request/request-promise.ts';

/** Webhooks that the service sends notifications to. */
export class NotificationChannels {
  readonly #caller: EndpointCaller;

  /** @internal */
  constructor(caller: EndpointCaller) {
    this.#caller = caller;
  }

  /**
   * Creates a webhook: `POST /v1/notification-channels`. Only this response contains its signing `secret`; store it for
   * `client.webhooks.unwrap`.
   *
   * @example
   * ```ts
   * const { secret } = await client.notificationChannels.create({
   *   url: 'https://example.com/actlog',
   *   events: ['guardian.action_pending'],
   * });
   * ```
   */
  create(
    body: NotificationChannelCreate,
    options?: RequestOptions,
  ): RequestPromise<NotificationChannelCreated> {
    return this.#caller.call('notificationChannels.create', { body, options });
  }

  /**
   * Lists webhooks: `GET /v1/notification-channels`.
   *
   * @example
   * ```ts
   * for await (const channel of client.notificationChannels.list()) console.log(channel.url, channel.status);
   * ```
   */
  list(
    query: QueryOf<'notificationChannels.list'> = {},
    options: ListOptions = {},
  ): List<NotificationChannel> {
    return new List(this.#caller, { endpoint: 'notificationChannels.list', query, options });
  }
}
