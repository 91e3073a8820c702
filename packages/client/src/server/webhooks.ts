import type { Actlog, ItemSequence } from '@actlog/client';
import type { RiskLevel, RotatedWebhook, WebhookDelivery, WebhookState } from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList } from './server-list.ts';

function pathOf(id: string, change = ''): string {
  return `/server/v1/webhooks/${encodeURIComponent(id)}${change}`;
}

/**
 * Returns a webhook with the state of its deliveries: `GET /server/v1/webhooks/:id`. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { getWebhook } from '@actlog/client/server';
 *
 * const { status, failingSince, waiting } = await getWebhook(client, 'nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3');
 * console.log(status, failingSince, waiting);
 * ```
 */
export function getWebhook(client: Actlog, id: string, options: RequestOptions = {}): Promise<WebhookState> {
  return client.request('GET', pathOf(id), options);
}

/**
 * Disables a webhook: `POST /server/v1/webhooks/:id/disable`. Waiting messages fail at their next attempt. Needs a key
 * with the scope `manage`.
 *
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 */
export function disableWebhook(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<WebhookState> {
  return client.request('POST', pathOf(id, '/disable'), options);
}

/**
 * Enables a webhook, including one that was disabled because it failed, and resets its failures:
 * `POST /server/v1/webhooks/:id/enable`. Needs a key with the scope `manage`.
 *
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 * @throws RateLimitError When the quota does not allow another active webhook.
 */
export function enableWebhook(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<WebhookState> {
  return client.request('POST', pathOf(id, '/enable'), options);
}

/**
 * Sets the lowest level that a webhook receives `session.risk_raised` for: `POST /server/v1/webhooks/:id/risk-level`. A new
 * webhook begins with `high`. Needs a key with the scope `manage`.
 *
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 */
export function setWebhookRiskLevel(
  client: Actlog,
  id: string,
  riskLevel: RiskLevel,
  options: RequestOptions = {},
): Promise<WebhookState> {
  return client.request('POST', pathOf(id, '/risk-level'), { ...options, body: { riskLevel } });
}

/** Options of {@link rotateWebhookSecret}. */
export interface WebhookRotation {
  /** Days for which messages are also signed with the old secret, 0 to 7, may be fractional. Default: 1. */
  readonly overlapDays?: number | undefined;
}

/**
 * Replaces the signing secret of a webhook: `POST /server/v1/webhooks/:id/rotate-secret`. The response has the new
 * secret, which is shown this once. Needs a key with the scope `manage`.
 *
 * @throws ValidationError When the overlap is not 0 to 7 days.
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { rotateWebhookSecret } from '@actlog/client/server';
 *
 * const rotated = await rotateWebhookSecret(client, 'nch_0198c1d2e3f47a5b8c6d7e8f90a1b2c3', { overlapDays: 7 });
 * console.log(rotated.previousSecretUntil);
 * ```
 */
export function rotateWebhookSecret(
  client: Actlog,
  id: string,
  { overlapDays }: WebhookRotation = {},
  options: RequestOptions = {},
): Promise<RotatedWebhook> {
  const body = { overlapDays };
  return client.request('POST', pathOf(id, '/rotate-secret'), { ...options, body });
}

/**
 * Deletes a webhook with its delivery log: `DELETE /server/v1/webhooks/:id`. Waiting messages are not sent. Needs a key
 * with the scope `manage`.
 *
 * @throws NotFoundError When there is no such webhook, or the service is not the actlog server.
 */
export async function deleteWebhook(client: Actlog, id: string, options: RequestOptions = {}): Promise<void> {
  await client.request('DELETE', pathOf(id), options);
}

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
