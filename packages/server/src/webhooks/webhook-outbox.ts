import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookEvent } from '@actlog/protocol';
import { newIdentifier } from '../lib/identifier.ts';
import { isAtLeast } from '../lib/risk-levels.ts';
import type { PolicySets } from '../policy/policy-set.ts';
import { activeChannels, type StoredChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, insertDeliveries, refreshDeliveries } from '../storage/stores/delivery-store.ts';
import type { Database, Write } from '../storage/transaction.ts';

/** Finds the messages for channels other than webhooks. */
interface ChannelRoutes {
  deliveries(
    db: Database,
    tenantId: number,
    message: WebhookEvent,
    channels: readonly StoredChannel[],
    nowMs: number,
  ): Promise<DeliveryRow[]>;
}

/**
 * Outbox of webhook messages. A message is written in the transaction of its cause, so it is sent if and only if the
 * cause is durable.
 */
export class WebhookOutbox {
  readonly #policySets: PolicySets;
  readonly #routes: ChannelRoutes | undefined;
  #wake: () => void = () => {};

  /** @param routes - what channels other than webhooks receive; nothing if omitted */
  constructor(policySets: PolicySets, routes?: ChannelRoutes) {
    this.#policySets = policySets;
    this.#routes = routes;
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
    const others = channels.filter(({ kind }) => kind !== 'webhook');
    if (others.length > 0 && this.#routes) {
      for (const message of subscribed) {
        deliveries.push(...(await this.#routes.deliveries(write.db, tenantId, message, others, nowMs)));
      }
    }
    await insertDeliveries(write.db, deliveries);
    write.afterCommit(() => this.#wake());
  }

  /** Lets the messages about a held action that people can see show it as it is now. */
  async refresh(write: Write, tenantId: number, actionId: string): Promise<void> {
    await refreshDeliveries(write.db, tenantId, actionId, { hasEnded: false, nowMs: Date.now() });
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
    .filter(({ kind }) => kind === 'webhook')
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
    subject: null,
    recipient: null,
    reference: null,
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
