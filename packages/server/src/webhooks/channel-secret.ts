import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import type { StoredChannel } from '../storage/channel-store.ts';

type Owned = Pick<StoredChannel, 'tenant_id' | 'id'>;

/** Encrypts a webhook's signing secret, for its row and for no other. */
export function encryptedFor(channel: Owned, secret: string, deployment: DeploymentSecret): string {
  return deployment.encrypt(secret, contextOf(channel));
}

/**
 * The secrets that a webhook's messages are signed with: its own, and the one before it while both are taken. Undefined
 * when the deployment has another secret now.
 */
export function signingSecrets(
  channel: StoredChannel,
  deployment: DeploymentSecret,
  nowMs: number,
): string[] | undefined {
  const { secret, previous_secret: previous, previous_until_ms: untilMs } = channel;
  const taken = previous !== null && untilMs !== null && nowMs < untilMs ? [secret, previous] : [secret];
  try {
    return taken.map((encrypted) => deployment.decrypt(encrypted, contextOf(channel)));
  } catch {
    return undefined;
  }
}

function contextOf({ tenant_id: tenantId, id }: Owned): string {
  return `webhook:${tenantId}:${id}`;
}
