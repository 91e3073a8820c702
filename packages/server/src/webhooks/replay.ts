import { channelOfDelivery } from '../storage/stores/channel-store.ts';
import { updateDelivery } from '../storage/stores/delivery-store.ts';
import type { Database } from '../storage/transaction.ts';

/**
 * Queues a message again, whether it was delivered or had failed.
 *
 * @throws Error when there is no such delivery, or when its webhook is disabled.
 */
export async function replayDelivery(db: Database, tenantId: number, id: string): Promise<void> {
  const channel = await channelOfDelivery(db, tenantId, id);
  if (!channel) throw new Error(`The tenant has no delivery "${id}".`);
  if (channel.status === 'disabled') {
    throw new Error(`The webhook "${channel.id}" is disabled, so nothing is sent to it; enable it first.`);
  }
  const again = { status: 'waiting', attempts: 0, next_attempt_ms: Date.now(), finished_ms: null } as const;
  await updateDelivery(db, { tenant_id: tenantId, id }, again);
}
