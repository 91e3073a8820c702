import { newIdentifier } from '../lib/identifier.ts';
import type { DeliveryRow } from '../storage/stores/delivery-store.ts';

/** A message for one or more webhooks. */
export interface WebhookMessage {
  /** Id of the message, the same for all webhooks. */
  readonly id: string;
  readonly type: string;
  /** Body of the request, as JSON. */
  readonly body: string;
}

/** Returns a delivery of a message to a webhook, which can be attempted at once. */
export function newDelivery(
  channel: { readonly tenantId: number; readonly id: string },
  message: WebhookMessage,
  nowMs: number,
): DeliveryRow {
  return {
    tenant_id: channel.tenantId,
    id: newIdentifier('dlv'),
    channel_id: channel.id,
    message_id: message.id,
    event_type: message.type,
    body: message.body,
    status: 'waiting',
    attempts: 0,
    next_attempt_ms: nowMs,
    leased_until_ms: 0,
    created_ms: nowMs,
    finished_ms: null,
    last_status: null,
    last_error: null,
    last_duration_ms: null,
  };
}
