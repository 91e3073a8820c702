import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookEvent } from '@actlog/protocol';
import { newIdentifier } from '../lib/identifier.ts';
import { isAtLeast } from '../lib/risk-levels.ts';
import type { PolicySets } from '../policy/policy-set.ts';
import { activeChannels, type StoredChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, insertDeliveries } from '../storage/stores/delivery-store.ts';
import type { Write } from '../storage/transaction.ts';

/**
 * Outbox of webhook messages. A message is written in the transaction of its cause, so it is sent if and only if the
 * cause is durable.
 */
export class WebhookOutbox {
  readonly #policySets: PolicySets;
  #wake: () => void = () => {};

  constructor(policySets: PolicySets) {
    this.#policySets = policySets;
  }

  /** Sets the callback for commits with queued messages. */
  onQueued(wake: () => void): void {
    this.#wake = wake;
  }

  /** Calls the callback, for messages that another thread has queued. */
  wake(): void {
    this.#wake();
  }

  /** Queues one delivery of each message for each webhook that subscribes to its type. */
  async queue(write: Write, tenantId: number, ...messages: readonly WebhookEvent[]): Promise<void> {
    if (messages.length === 0) return;
    const { wanted } = await this.#policySets.of(write.db, tenantId);
    const subscribed = messages.filter(({ type }) => wanted.has(type));
    if (subscribed.length === 0) return;
    const channels = await activeChannels(write.db, tenantId);
    const nowMs = Date.now();
    const deliveries = subscribed.flatMap((message) => deliveriesOf(message, channels, nowMs));
    await insertDeliveries(write.db, deliveries);
    write.afterCommit(() => this.#wake());
  }
}

function deliveriesOf(
  message: WebhookEvent,
  channels: readonly StoredChannel[],
  nowMs: number,
): DeliveryRow[] {
  const sent = { id: newIdentifier('msg'), type: message.type, body: JSON.stringify(message) };
  return channels
    .filter((channel) => channel.events.includes(message.type) && isHighEnough(message, channel))
    .map(({ tenant_id: tenantId, id }) => newDelivery({ tenantId, id }, sent, nowMs));
}

function isHighEnough(message: WebhookEvent, { risk_level: lowest }: StoredChannel): boolean {
  if (message.type !== 'session.risk_raised') return true;
  return isAtLeast(message.data.level, lowest);
}

/** A message for one or more webhooks. */
interface WebhookMessage {
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

const secretPrefix = 'whsec_';

/** Creates a signing secret of 256 bits (Standard Webhooks, "Signature scheme"). */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64');
}

/**
 * Returns one of the space-separated signatures in `webhook-signature`.
 *
 * @param timestampSeconds - time of this attempt
 */
export function webhookSignature(
  secret: string,
  messageId: string,
  timestampSeconds: number,
  body: string,
): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const digest = createHmac('sha256', key)
    .update(`${messageId}.${timestampSeconds}.${body}`)
    .digest('base64');
  return `v1,${digest}`;
}
