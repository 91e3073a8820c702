import type { WebhookHealth } from './overview.ts';
import type { RiskLevel } from './schemas/risk.ts';
import type { WebhookEventType } from './schemas/webhook-event.ts';

/**
 * Type of a test message. Its data is `{ webhookId }`. It is sent only on request, to one webhook, and attempted once.
 */
export const webhookTestType = 'webhook.test';

/** A webhook with the state of its deliveries. */
export interface WebhookState extends WebhookHealth {
  /** Types of the messages that it receives. */
  readonly events: readonly WebhookEventType[];
  /** Lowest level that it receives `session.risk_raised` for. */
  readonly riskLevel: RiskLevel;
  readonly createdAt: string;
  /** Time until which messages are also signed with the secret before the last rotation; null if they are not. */
  readonly previousSecretUntil: string | null;
}

/** A webhook whose signing secret was rotated. The secret is shown this once. */
export interface RotatedWebhook extends WebhookState {
  readonly secret: string;
}

/** One message to one webhook, without its content. */
export interface WebhookDelivery {
  readonly id: string;
  /** Id of the webhook. */
  readonly webhookId: string;
  /** Value of the header `webhook-id`, the same in all attempts. */
  readonly messageId: string;
  readonly eventType: WebhookEventType | typeof webhookTestType;
  /** `waiting` for its first or next attempt; `failed` after its last one, or if the webhook was disabled. */
  readonly status: 'waiting' | 'delivered' | 'failed';
  /** Completed attempts since the message was queued or resent. */
  readonly attempts: number;
  readonly createdAt: string;
  /** Time of the next attempt; null if there is none. */
  readonly nextAttemptAt: string | null;
  /** Time at which it was delivered or failed; null while it waits. */
  readonly finishedAt: string | null;
  /** HTTP status of the response to the last attempt; null for no response. */
  readonly responseStatus: number | null;
  /** Reason for the failure of the last attempt; null if it succeeded, or before the first attempt. */
  readonly error: string | null;
  /** Duration of the last attempt in milliseconds; null if it is not known. */
  readonly durationMs: number | null;
}

/** Response of `GET /server/v1/webhooks/:id/deliveries` of the actlog server. */
export interface WebhookDeliveryPage {
  readonly items: readonly WebhookDelivery[];
  readonly nextCursor: string | null;
}
