import type { SentOf } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { StoredChannel } from '../storage/stores/channel-store.ts';

/** A webhook without its secret. */
export type ListedWebhook = SentOf<'notificationChannels.list'>['items'][number];

/** Returns a webhook as the wire shows it, without its secret. */
export function channelView(channel: StoredChannel): ListedWebhook {
  return {
    id: channel.id,
    kind: 'webhook',
    url: channel.url,
    events: [...channel.events],
    status: channel.status,
    createdAt: isoTime(channel.created_ms),
    lastDeliveryAt: isoTimeOrNull(channel.last_delivery_ms),
    failureCount: channel.failure_count,
  };
}
