import type { WebhookEvent } from '@actlog/protocol';
import { newIdentifier } from '../identifier.ts';
import type { PolicySets } from '../policy/policy-set.ts';
import { activeChannels, type StoredChannel } from '../storage/channel-store.ts';
import { type DeliveryRow, insertDeliveries } from '../storage/delivery-store.ts';
import type { Write } from '../storage/transaction.ts';

/**
 * Messages on their way to webhooks. A message is written in the transaction of its cause: it is sent if and only
 * if the cause is durable.
 */
export class Outbox {
  readonly #policySets: PolicySets;
  #wake: () => void = () => {};

  constructor(policySets: PolicySets) {
    this.#policySets = policySets;
  }

  /** Calls `wake` after every commit that left a message. */
  onQueued(wake: () => void): void {
    this.#wake = wake;
  }

  /** Has messages sent that were left by another thread. */
  wake(): void {
    this.#wake();
  }

  /** Leaves one delivery of each message for each webhook that wants this kind of event. */
  async queue(write: Write, tenantId: number, ...messages: readonly WebhookEvent[]): Promise<void> {
    if (messages.length === 0) return;
    const { wanted } = await this.#policySets.of(write.db, tenantId);
    const told = messages.filter(({ type }) => wanted.has(type));
    if (told.length === 0) return;
    const channels = await activeChannels(write.db, tenantId);
    const nowMs = Date.now();
    const deliveries = told.flatMap((message) => deliveriesOf(message, channels, nowMs));
    await insertDeliveries(write.db, deliveries);
    write.afterCommit(() => this.#wake());
  }
}

function deliveriesOf(
  message: WebhookEvent,
  channels: readonly StoredChannel[],
  nowMs: number,
): DeliveryRow[] {
  const messageId = newIdentifier('msg');
  const body = JSON.stringify(message);
  return channels
    .filter((channel) => channel.events.includes(message.type))
    .map((channel) => ({
      tenant_id: channel.tenant_id,
      id: newIdentifier('dlv'),
      channel_id: channel.id,
      message_id: messageId,
      event_type: message.type,
      body,
      status: 'waiting',
      attempts: 0,
      next_attempt_ms: nowMs,
      leased_until_ms: 0,
      created_ms: nowMs,
      finished_ms: null,
      last_status: null,
      last_error: null,
    }));
}
