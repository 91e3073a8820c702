import { lockChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, findDelivery, updateDelivery } from '../storage/stores/delivery-store.ts';
import type { Database } from '../storage/transaction.ts';
import { channelChange } from './channel-change.ts';
import { ChannelChangeError, disabledChannel } from './channel-change-error.ts';
import type { ChangedChannel } from './channel-changes.ts';

/**
 * Queues a message again, whether it was delivered or had failed.
 *
 * @throws ChannelChangeError when there is no such delivery, or when its webhook is disabled.
 */
export async function replayDelivery(
  db: Database,
  tenantId: number,
  id: string,
): Promise<ChangedChannel & { readonly delivery: DeliveryRow }> {
  const row = await findDelivery(db, tenantId, id);
  const channel = row && (await lockChannel(db, tenantId, row.channel_id));
  if (!channel) throw new ChannelChangeError('unknown', `The tenant has no delivery "${id}".`);
  if (channel.status === 'disabled') throw disabledChannel(channel.id);
  const again = { status: 'waiting', attempts: 0, next_attempt_ms: Date.now(), finished_ms: null } as const;
  await updateDelivery(db, row, again);
  const resent = [{ field: 'deliveryId', before: null, after: id }];
  return {
    channel,
    delivery: { ...row, ...again },
    change: channelChange('webhook.message_resent', channel, channel, resent),
  };
}
