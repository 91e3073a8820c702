import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import { requireRoom } from '../quota/require-room.ts';
import {
  countActiveChannels,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../storage/channel-store.ts';
import { lockNames } from '../storage/locks.ts';
import type { Database } from '../storage/transaction.ts';
import { encryptedFor, signingSecrets } from './channel-secret.ts';
import { newWebhookSecret } from './signature.ts';

/**
 * Sends nothing more to a webhook; what waits for it is given up when its next try is due.
 *
 * @throws Error when there is no such webhook.
 */
export async function disableChannel(db: Database, tenantId: number, id: string): Promise<void> {
  const channel = await existing(db, tenantId, id);
  if (channel.status === 'active') await updateChannel(db, channel, { status: 'disabled' });
}

/**
 * Sends to a webhook again, as to one that has never failed.
 *
 * @throws Error when there is no such webhook; QuotaError when the tenant has no room for another active one.
 */
export async function enableChannel(db: Database, tenantId: number, id: string): Promise<void> {
  await lockNames(db, tenantId, ['channels']);
  const channel = await existing(db, tenantId, id);
  if (channel.status === 'active') return;
  await requireRoom(db, tenantId, 'channels', countActiveChannels);
  await updateChannel(db, channel, { status: 'active', failure_count: 0, failing_since_ms: null });
}

/**
 * Gives a webhook another signing secret. Until `untilMs` messages are signed with the former one, too.
 *
 * @returns the secret, which is not shown again
 * @throws Error when there is no such webhook, or when `deployment` is not what its secret is encrypted under.
 */
export async function rotateChannelSecret(
  db: Database,
  deployment: DeploymentSecret,
  { tenantId, id, untilMs }: { readonly tenantId: number; readonly id: string; readonly untilMs: number },
): Promise<string> {
  const channel = await existing(db, tenantId, id);
  if (!signingSecrets(channel, deployment, Date.now())) {
    throw new Error(
      `The secret of the webhook "${id}" is encrypted under another secret of the deployment: give the "secret" (ACTLOG_SECRET) that the server has.`,
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

/** What is thrown where a tenant has no such webhook. */
export function unknownChannel(id: string): Error {
  return new Error(`The tenant has no webhook "${id}".`);
}
