import type { WebhookEvent } from '@actlog/protocol';
import { newIdentifier } from '../lib/identifier.ts';
import { isAtLeast } from '../lib/risk-levels.ts';
import type { PolicySets } from '../policy/policy-set.ts';
import { activeChannels, type StoredChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, insertDeliveries } from '../storage/stores/delivery-store.ts';
import type { Write } from '../storage/transaction.ts';
import { newDelivery } from './new-delivery.ts';

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
