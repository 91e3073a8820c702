import type { WebhookDelivery, WebhookState } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { ChannelHealth } from '../storage/stores/channel-health.ts';
import type { StoredChannel } from '../storage/stores/channel-store.ts';
import type { DeliveryRow } from '../storage/stores/delivery-store.ts';
import { webhookHealthView } from './overview-view.ts';

/** Returns a webhook with the state of its deliveries, as the API returns it. */
export function webhookStateView(channel: StoredChannel, health: ChannelHealth, nowMs: number): WebhookState {
  const { previous_until_ms: untilMs } = channel;
  return {
    ...webhookHealthView(health),
    events: channel.events,
    riskLevel: channel.risk_level,
    createdAt: isoTime(channel.created_ms),
    previousSecretUntil: untilMs !== null && untilMs > nowMs ? isoTime(untilMs) : null,
  };
}

/** Returns a delivery as the API returns it: without the body of the message. */
export function deliveryView(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    webhookId: row.channel_id,
    messageId: row.message_id,
    eventType: row.event_type as WebhookDelivery['eventType'],
    status: row.status,
    attempts: row.attempts,
    createdAt: isoTime(row.created_ms),
    nextAttemptAt: row.status === 'waiting' ? isoTime(row.next_attempt_ms) : null,
    finishedAt: isoTimeOrNull(row.finished_ms),
    responseStatus: row.last_status,
    error: row.last_error,
    durationMs: row.last_duration_ms,
  };
}
