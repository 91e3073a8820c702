import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import { requireRoom } from '../quota/require-room.ts';
import { lockNames } from '../storage/locks.ts';
import {
  countActiveChannels,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../storage/stores/channel-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Database } from '../storage/transaction.ts';
import { encryptedFor, signingSecrets } from './channel-secret.ts';
import { newWebhookSecret } from './signature.ts';

/**
 * Disables a webhook. Waiting messages fail when their next attempt is due.
 *
 * @throws Error when there is no such webhook.
 */
export async function disableChannel(db: Database, tenantId: number, id: string): Promise<void> {
  const channel = await existing(db, tenantId, id);
  if (channel.status === 'active') await updateChannel(db, channel, { status: 'disabled' });
}

/**
 * Enables a webhook and resets its failures.
 *
 * @throws Error when there is no such webhook; QuotaError when the tenant may not have another active one.
 */
export async function enableChannel(
  db: Database,
  tenantId: number,
  id: string,
  quotas: DeploymentQuotas,
): Promise<void> {
  await lockNames(db, tenantId, ['channels']);
  const channel = await existing(db, tenantId, id);
  if (channel.status === 'active') return;
  await requireRoom(db, tenantId, 'channels', countActiveChannels, quotas);
  await updateChannel(db, channel, { status: 'active', failure_count: 0, failing_since_ms: null });
}

/**
 * Replaces the signing secret of a webhook. Until `untilMs` messages are also signed with the previous one.
 *
 * @returns the secret, which is not shown again
 * @throws Error when there is no such webhook, or when `deployment` is not the secret under which it is encrypted.
 */
export async function rotateChannelSecret(
  db: Database,
  deployment: DeploymentSecret,
  { tenantId, id, untilMs }: { readonly tenantId: number; readonly id: string; readonly untilMs: number },
): Promise<string> {
  const channel = await existing(db, tenantId, id);
  if (!signingSecrets(channel, deployment, Date.now())) {
    throw new Error(
      `The secret of the webhook "${id}" is encrypted under another secret of the deployment: use the "secret" (ACTLOG_SECRET) of the server.`,
    );
  }
  const secret = newWebhookSecret();
  await updateChannel(db, channel, {
    secret: encryptedFor(channel, secret, deployment),
    previous_secret: channel.secret,
    previous_until_ms: untilMs,
  });
  return secret;
}

async function existing(db: Database, tenantId: number, id: string): Promise<StoredChannel> {
  const channel = await lockChannel(db, tenantId, id);
  if (!channel) throw unknownChannel(id);
  return channel;
}

/** Returns the error for an unknown webhook. */
export function unknownChannel(id: string): Error {
  return new Error(`The tenant has no webhook "${id}".`);
}
