import type { AuditAction, AuditFieldChange } from '@actlog/protocol';
import { addressWithoutQuery, fieldChanges } from '../audit/field-changes.ts';
import type { Change } from '../audit/record-change.ts';
import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import type { StoredChannel } from '../storage/stores/channel-store.ts';

/** Fields of a webhook that the audit log keeps. */
interface AuditedChannel extends Pick<StoredChannel, 'events' | 'status'> {
  readonly url: string;
  readonly riskLevel: StoredChannel['risk_level'];
}

/**
 * Returns the entry of the audit log for a change of a webhook: its address without the query, its events, its
 * status and its lowest level of risk, never its secret.
 *
 * @param before - the webhook before the change; `undefined` for a new one
 * @param after - the webhook after the change; `undefined` for a deleted one
 * @param more - further changes
 */
export function channelChange(
  action: AuditAction & `webhook.${string}`,
  before: StoredChannel | undefined,
  after: StoredChannel | undefined,
  more: readonly AuditFieldChange[] = [],
): Change {
  const channel = (after ?? before) as StoredChannel;
  return {
    action,
    target: { id: channel.id, name: addressWithoutQuery(channel.url) },
    changes: [
      ...fieldChanges(audited(before), audited(after), ['url', 'events', 'status', 'riskLevel']),
      ...more,
    ],
  };
}

function audited(channel: StoredChannel | undefined): AuditedChannel | undefined {
  if (!channel) return undefined;
  const { url, events, status, risk_level: riskLevel } = channel;
  return { url: addressWithoutQuery(url), events, status, riskLevel };
}

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
