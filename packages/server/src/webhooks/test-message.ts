import { webhookTestType } from '@actlog/protocol';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime } from '../lib/iso-time.ts';
import { lockChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, insertDeliveries } from '../storage/stores/delivery-store.ts';
import type { Database } from '../storage/transaction.ts';
import { channelChange } from './channel-change.ts';
import { disabledChannel, unknownChannel } from './channel-change-error.ts';
import type { ChangedChannel } from './channel-changes.ts';
import { newDelivery } from './new-delivery.ts';

/**
 * Queues a test message to one webhook, whatever types it subscribes to. It is signed as all messages are, and attempted
 * once.
 *
 * @throws ChannelChangeError when there is no such webhook, or when it is disabled.
 */
export async function queueTestMessage(
  db: Database,
  tenantId: number,
  id: string,
): Promise<ChangedChannel & { readonly delivery: DeliveryRow }> {
  const channel = await lockChannel(db, tenantId, id);
  if (!channel) throw unknownChannel(id);
  if (channel.status === 'disabled') throw disabledChannel(id);
  const nowMs = Date.now();
  const body = { type: webhookTestType, timestamp: isoTime(nowMs), data: { webhookId: id } };
  const message = { id: newIdentifier('msg'), type: webhookTestType, body: JSON.stringify(body) };
  const delivery = newDelivery({ tenantId, id }, message, nowMs);
  await insertDeliveries(db, [delivery]);
  const sent = [{ field: 'deliveryId', before: null, after: delivery.id }];
  return { channel, delivery, change: channelChange('webhook.tested', channel, channel, sent) };
}
