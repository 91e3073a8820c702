import type { Actlog, ItemSequence } from '@actlog/client';
import type { WebhookDelivery } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList } from './server-list.ts';

/** Filters of {@link listDeliveries}. */
export interface DeliveryFilters {
  readonly status?: WebhookDelivery['status'] | undefined;
  /** Deliveries in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the messages to a webhook, newest first, without their content: `GET /server/v1/webhooks/:id/deliveries`. Pages
 * are requested as they are needed. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { listDeliveries, resendDelivery } from '@actlog/client/server';
 *
 * const webhook = 'nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3';
 * for await (const { id, error } of listDeliveries(client, webhook, { status: 'failed' })) {
 *   console.log(id, error);
 *   await resendDelivery(client, id);
 * }
 * ```
 */
export function listDeliveries(
  client: Actlog,
  webhookId: string,
  filters: DeliveryFilters = {},
  options: RequestOptions = {},
): ItemSequence<WebhookDelivery> {
  const path = `/server/v1/webhooks/${encodeURIComponent(webhookId)}/deliveries`;
  return serverList(client, { path, query: { limit: defaultLimit, ...filters } }, options);
}

/**
 * Sends a message again, whether it was delivered, failed or waits: `POST /server/v1/deliveries/:id/resend`. Needs a key
 * with the scope `manage`.
 *
 * @throws ValidationError When its webhook is disabled.
 * @throws NotFoundError When there is no such delivery, or the service is not the actlog server.
 */
export function resendDelivery(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<WebhookDelivery> {
  return client.request('POST', `/server/v1/deliveries/${encodeURIComponent(id)}/resend`, options);
}

/**
 * Sends a test message of the type `webhook.test` to a webhook: `POST /server/v1/webhooks/:id/test`. It is signed as all
 * messages are, and attempted once. Needs a key with the scope `manage`.
 *
 * @returns the delivery, which waits for its attempt; {@link listDeliveries} has the outcome
 * @throws ValidationError When the webhook is disabled.
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 */
export function testWebhook(
  client: Actlog,
  webhookId: string,
  options: RequestOptions = {},
): Promise<WebhookDelivery> {
  return client.request('POST', `/server/v1/webhooks/${encodeURIComponent(webhookId)}/test`, options);
}
