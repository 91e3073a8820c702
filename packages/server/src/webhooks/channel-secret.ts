import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import type { StoredChannel } from '../storage/stores/channel-store.ts';

type Owned = Pick<StoredChannel, 'tenant_id' | 'id'>;

/** Encrypts a webhook's signing secret, bound to its row. */
export function encryptedFor(channel: Owned, secret: string, deployment: DeploymentSecret): string {
  return deployment.encrypt(secret, contextOf(channel));
}

/**
 * Returns the secrets that sign a webhook's messages: its own, and the previous one during the overlap. `undefined` if
 * they were encrypted under another secret of the deployment.
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
