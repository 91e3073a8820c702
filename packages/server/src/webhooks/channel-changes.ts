import type { AuditAction, AuditFieldChange, RiskLevel } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { lockNames } from '../storage/locks.ts';
import {
  countActiveChannels,
  dropChannel,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../storage/stores/channel-store.ts';
import { type DeliveryRow, findDelivery, updateDelivery } from '../storage/stores/delivery-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import type { Database } from '../storage/transaction.ts';
import { addressWithoutQuery, type Change, fieldChanges } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { requireRoom } from '../tenants/quotas.ts';
import { newWebhookSecret } from './webhook-outbox.ts';

/** Result of a change of a webhook. */
export interface ChangedChannel {
  /** The webhook after the change; of a deleted one, before it. */
  readonly channel: StoredChannel;
  /** Entry for the audit log; `undefined` if nothing has changed. */
  readonly change: Change | undefined;
}

/**
 * Disables a webhook. Waiting messages fail when their next attempt is due.
 *
 * @throws ChannelChangeError when there is no such webhook.
 */
export async function disableChannel(db: Database, tenantId: number, id: string): Promise<ChangedChannel> {
  const channel = await existing(db, tenantId, id);
  if (channel.status === 'disabled') return { channel, change: undefined };
  const next = { ...channel, status: 'disabled' as const };
  await updateChannel(db, channel, { status: next.status });
  return { channel: next, change: channelChange('webhook.disabled', channel, next) };
}

/**
 * Enables a webhook and resets its failures.
 *
 * @throws ChannelChangeError when there is no such webhook; QuotaError when the tenant may not have another active one.
 */
export async function enableChannel(
  db: Database,
  tenantId: number,
  id: string,
  quotas: DeploymentQuotas,
): Promise<ChangedChannel> {
  await lockNames(db, tenantId, ['channels']);
  const channel = await existing(db, tenantId, id);
  if (channel.status === 'active') return { channel, change: undefined };
  await requireRoom(db, tenantId, 'channels', countActiveChannels, quotas);
  const changes = { status: 'active', failure_count: 0, failing_since_ms: null } as const;
  await updateChannel(db, channel, changes);
  const next = { ...channel, ...changes };
  return { channel: next, change: channelChange('webhook.enabled', channel, next) };
}

/**
 * Changes the lowest level that a webhook receives `session.risk_raised` for.
 *
 * @throws ChannelChangeError when there is no such webhook.
 */
export async function changeChannelRiskLevel(
  db: Database,
  tenantId: number,
  id: string,
  riskLevel: RiskLevel,
): Promise<ChangedChannel> {
  const channel = await existing(db, tenantId, id);
  if (channel.risk_level === riskLevel) return { channel, change: undefined };
  const next = { ...channel, risk_level: riskLevel };
  await updateChannel(db, channel, { risk_level: riskLevel });
  return { channel: next, change: channelChange('webhook.risk_level_changed', channel, next) };
}

/**
 * Replaces the signing secret of a webhook. Until `untilMs` messages are also signed with the previous one.
 *
 * @returns the secret, which is not shown again
 * @throws ChannelChangeError when there is no such webhook, or when `deployment` is not the secret under which it is
 *   encrypted.
 */
export async function rotateChannelSecret(
  db: Database,
  deployment: DeploymentSecret,
  { tenantId, id, untilMs }: { readonly tenantId: number; readonly id: string; readonly untilMs: number },
): Promise<ChangedChannel & { readonly secret: string }> {
  const channel = await existing(db, tenantId, id);
  if (!signingSecrets(channel, deployment, Date.now())) {
    throw new ChannelChangeError(
      'secret',
      `The secret of the webhook "${id}" is encrypted under another secret of the deployment: use the "secret" (ACTLOG_SECRET) of the server.`,
    );
  }
  const secret = newWebhookSecret();
  const changes = {
    secret: encryptedFor(channel, secret, deployment),
    previous_secret: channel.secret,
    previous_until_ms: untilMs,
  };
  await updateChannel(db, channel, changes);
  const next = { ...channel, ...changes };
  const fields = [
    { field: 'secret' },
    { field: 'previousSecretUntil', before: null, after: isoTime(untilMs) },
  ];
  return { secret, channel: next, change: channelChange('webhook.secret_rotated', channel, next, fields) };
}

/**
 * Deletes a webhook. Its messages are no longer sent.
 *
 * @throws ChannelChangeError when there is no such webhook.
 */
export async function deleteChannel(db: Database, tenantId: number, id: string): Promise<ChangedChannel> {
  const channel = await existing(db, tenantId, id);
  await dropChannel(db, channel);
  return { channel, change: channelChange('webhook.deleted', channel, undefined) };
}

async function existing(db: Database, tenantId: number, id: string): Promise<StoredChannel> {
  const channel = await lockChannel(db, tenantId, id);
  if (!channel) throw unknownChannel(id);
  return channel;
}

/**
 * Error thrown when a webhook cannot be changed: `unknown` if the tenant has no such webhook or delivery, `disabled` if
 * nothing can be sent to it, `secret` if its secret is encrypted under another secret of the deployment.
 */
export class ChannelChangeError extends Error {
  override readonly name = 'ChannelChangeError';
  readonly reason: 'unknown' | 'disabled' | 'secret';

  constructor(reason: ChannelChangeError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Returns the error for an unknown webhook. */
export function unknownChannel(id: string): ChannelChangeError {
  return new ChannelChangeError('unknown', `The tenant has no webhook "${id}".`);
}

/** Returns the error for a message to a disabled webhook. */
export function disabledChannel(id: string): ChannelChangeError {
  return new ChannelChangeError(
    'disabled',
    `The webhook "${id}" is disabled, so nothing is sent to it; enable it first.`,
  );
}

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
  if (channel.kind !== 'webhook') {
    return otherChannelChange(
      action.replace('webhook.', 'channel.') as `channel.${string}`,
      before,
      after,
      more,
    );
  }
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

/** Returns the entry of the audit log for a change of a channel that is not a webhook, never its secret settings. */
export function otherChannelChange(
  action: `channel.${string}`,
  before: StoredChannel | undefined,
  after: StoredChannel | undefined,
  more: readonly AuditFieldChange[] = [],
): Change {
  const channel = (after ?? before) as StoredChannel;
  const fields = ['kind', 'name', 'settings', 'rules', 'status', 'mutedUntil'] as const;
  return {
    action: action as AuditAction,
    target: { id: channel.id, name: channel.name },
    changes: [...fieldChanges(auditedOther(before), auditedOther(after), fields), ...more],
  };
}

function auditedOther(channel: StoredChannel | undefined) {
  if (!channel) return undefined;
  const { kind, name, settings, rules, status, muted_until_ms: mutedMs } = channel;
  return {
    kind,
    name,
    settings: JSON.parse(settings) as unknown,
    rules: JSON.parse(rules) as unknown,
    status,
    mutedUntil: isoTimeOrNull(mutedMs),
  };
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
