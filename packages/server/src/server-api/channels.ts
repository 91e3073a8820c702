import { hash } from 'node:crypto';
import {
  type Channel,
  type ChannelKind,
  type ChannelRules,
  channelKinds,
  channelTestType,
} from '@actlog/protocol';
import * as z from 'zod';
import { type ChannelDriver, ChannelSettingError, type StoredMessage } from '../channels/channel.ts';
import { channelContext } from '../channels/channel-delivery.ts';
import { type PushSubscription, pushKeys, pushSubscription, subscriptionContext } from '../channels/push.ts';
import { channelRules, eventTypesOf, type Routing, rulesOf } from '../channels/routing.ts';
import { inspectedUrl } from '../channels/teams.ts';
import type { Cursors } from '../http/page.ts';
import { requireScope } from '../http/request-gate.ts';
import { validated } from '../http/request-input.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { ApiError, notFound, validationError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { repeat } from '../lib/repeat.ts';
import { lockNames } from '../storage/locks.ts';
import type { Storage } from '../storage/storage.ts';
import {
  allChannels,
  countActiveChannels,
  countChannels,
  findChannel,
  insertChannel,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../storage/stores/channel-store.ts';
import {
  type DeliveryRow,
  dropDeliveriesTo,
  insertDeliveries,
  lastDeliveryError,
} from '../storage/stores/delivery-store.ts';
import {
  dropSubscription,
  findSubscription,
  listSubscriptions,
  maxBrowsers,
  type PushSubscriptionRow,
  saveSubscription,
} from '../storage/stores/people-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuditParts, auditRequest } from '../tenants/audit-log.ts';
import type { Caller } from '../tenants/caller.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { requireRoom } from '../tenants/quotas.ts';
import { singleLineName } from '../tenants/single-line-name.ts';
import type { AddressGuard } from '../webhooks/address-guard.ts';
import {
  type ChangedChannel,
  ChannelChangeError,
  deleteChannel,
  disableChannel,
  disabledChannel,
  enableChannel,
  otherChannelChange,
} from '../webhooks/channel-changes.ts';
import { newDelivery, type WebhookOutbox } from '../webhooks/webhook-outbox.ts';
import {
  type DeliveryListParts,
  type deliveriesQuery,
  deliveryListRoute,
  deliveryView,
  noBody,
} from './webhooks.ts';

/** Parts of {@link channelRoutes}. */
export interface ChannelApiParts extends AuditParts {
  readonly storage: Storage;
  readonly secret: DeploymentSecret;
  readonly outbox: WebhookOutbox;
  readonly drivers: ReadonlyMap<string, ChannelDriver>;
  readonly routing: Routing;
  readonly addressGuard: AddressGuard;
  /** The tenant of the people who sign in. */
  readonly tenant: { id(): Promise<number | undefined> };
  readonly cursors: Cursors;
}

/** Body of `POST /server/v1/channels`. */
const creation = z.strictObject({
  kind: z.enum(channelKinds, `must be one of ${channelKinds.join(', ')}`),
  name: singleLineName,
  settings: z.record(z.string(), z.unknown()).default({}),
  rules: channelRules.prefault({}),
});

/** Longest time for which a channel or a rule can be muted, in minutes. */
const maxMinutes = 60 * 24 * 366;

/** Body that mutes something: the minutes, or null to end it. */
export const muting: z.ZodType<{ readonly minutes: number | null }> = z.strictObject({
  minutes: z.number().min(1).max(maxMinutes).nullable(),
});

/** Routes of channels that are not webhooks. */
export function channelRoutes(parts: ChannelApiParts): ServerRoute[] {
  const { storage, quotas } = parts;
  const changing = (
    path: string,
    work: (db: Database, call: ServerCall) => Promise<ChangedChannel>,
    body: z.ZodType = noBody,
  ): ServerRoute =>
    post(path, async (call) => {
      validated('body', body, call.body);
      await changed(parts, call, (db) => work(db, call));
      return storage.read(call.caller.tenantId, (db) => stateOf(db, call.caller.tenantId, call.id));
    });
  return [
    {
      method: 'GET',
      path: '/channels',
      success: 200,
      check: (caller) => requireScope(caller, 'read'),
      handle: ({ caller: { tenantId } }) =>
        storage.read(tenantId, async (db) => {
          const items: Channel[] = [];
          for (const channel of await allChannels(db, tenantId, 'others')) {
            items.push(await viewOf(db, channel));
          }
          // What the operator still has to set for each kind; null if nothing.
          const kinds = channelKinds.map((kind) => ({
            kind,
            problem: parts.drivers.get(kind)?.problem() ?? null,
          }));
          return { items, kinds };
        }),
    },
    {
      method: 'POST',
      path: '/channels',
      success: 201,
      check: (caller) => requireScope(caller, 'manage'),
      handle: (call) => create(parts, call),
    },
    {
      method: 'GET',
      path: '/channels/:id',
      success: 200,
      check: (caller) => requireScope(caller, 'read'),
      handle: ({ caller: { tenantId }, id }) => storage.read(tenantId, (db) => stateOf(db, tenantId, id)),
    },
    {
      method: 'DELETE',
      path: '/channels/:id',
      success: 200,
      check: (caller) => requireScope(caller, 'manage'),
      async handle(call) {
        const { id, caller } = call;
        await changed(parts, call, (db) => deleteChannel(db, caller.tenantId, id));
        await repeat(
          () => storage.write(caller.tenantId, ({ db }) => dropDeliveriesTo(db, caller.tenantId, id)),
          undefined,
        );
        return { id, deleted: true };
      },
    },
    changing('/channels/:id/disable', (db, { caller, id }) => disableChannel(db, caller.tenantId, id)),
    changing('/channels/:id/enable', (db, { caller, id }) => enableChannel(db, caller.tenantId, id, quotas)),
    changing(
      '/channels/:id/mute',
      async (db, { caller, id, body }) => {
        const { minutes } = body as z.output<typeof muting>;
        const mutedMs = minutes === null ? null : Date.now() + minutes * 60_000;
        const action = minutes === null ? 'channel.unmuted' : 'channel.muted';
        return change(db, caller, id, action, { muted_until_ms: mutedMs });
      },
      muting,
    ),
    changing(
      '/channels/:id/rules',
      async (db, { caller, id, body }) => {
        const rules = validated('body', channelRules, body) as ChannelRules;
        const changes = { rules: JSON.stringify(rules), events: eventTypesOf(rules) };
        return change(db, caller, id, 'channel.updated', changes);
      },
      channelRules,
    ),
    post('/channels/:id/test', (call) => test(parts, call)),
    ...pushRoutes(parts),
  ];
}

function post(path: string, handle: ServerRoute['handle']): ServerRoute {
  return { method: 'POST', path, success: 200, check: (caller) => requireScope(caller, 'manage'), handle };
}

/** Route `GET /server/v1/channels/:id/deliveries`: the messages to a channel, newest first, without their content. */
export function channelDeliveriesRoute(parts: DeliveryListParts): ServerRoute<typeof deliveriesQuery> {
  return deliveryListRoute(parts, {
    path: '/channels/:id/deliveries',
    requireReceiver: existing,
    view: channelDeliveryView,
  });
}

function channelDeliveryView(row: DeliveryRow): object {
  const { webhookId: channelId, messageId: _messageId, ...view } = deliveryView(row);
  return { ...view, channelId, pendingActionId: row.subject };
}

async function create(parts: ChannelApiParts, call: ServerCall): Promise<Channel> {
  const { kind, name, settings, rules } = validated('body', creation, call.body);
  const { tenantId } = call.caller;
  const driver = await usableDriver(parts, kind, tenantId);
  const { settings: checked, url } = await driver.check(settings).catch((error: unknown) => {
    if (!(error instanceof ChannelSettingError)) throw error;
    throw validationError(`settings.${error.setting}`, 'invalid_setting', error.message);
  });
  const isSecret = (field: string) => driver.secretSettings.includes(field);
  const entries = Object.entries(checked);
  const id = newIdentifier('chn');
  const secrets = JSON.stringify(Object.fromEntries(entries.filter(([field]) => isSecret(field))));
  const channel: StoredChannel = {
    tenant_id: tenantId,
    id,
    kind,
    name,
    url,
    settings: JSON.stringify(Object.fromEntries(entries.filter(([field]) => !isSecret(field)))),
    rules: JSON.stringify(rules),
    events: eventTypesOf(rules),
    secret: parts.secret.encrypt(secrets, channelContext({ tenant_id: tenantId, id })),
    previous_secret: null,
    previous_until_ms: null,
    status: 'active',
    risk_level: 'high',
    muted_until_ms: null,
    created_ms: Date.now(),
    last_delivery_ms: null,
    failure_count: 0,
    failing_since_ms: null,
  };
  return parts.storage.write(tenantId, async ({ db }) => {
    await lockNames(db, tenantId, ['channels']);
    await requireRoom(db, tenantId, 'channels', countActiveChannels, parts.quotas);
    await requireRoom(db, tenantId, 'storedChannels', countChannels, parts.quotas);
    await insertChannel(db, channel);
    await auditRequest(parts, db, call, otherChannelChange('channel.created', undefined, channel));
    return viewOf(db, channel);
  });
}

/** Returns the driver of a kind. @throws ApiError `VALIDATION_ERROR` for one that this server or tenant cannot use. */
async function usableDriver(
  { drivers, tenant }: ChannelApiParts,
  kind: ChannelKind,
  tenantId: number,
): Promise<ChannelDriver> {
  const driver = drivers.get(kind) as ChannelDriver;
  const problem = driver.problem();
  if (problem !== undefined) throw validationError('kind', 'not_configured', `is not available: ${problem}`);
  // Otherwise any tenant could write to the operator's workspace, or mail to anyone in the operator's name.
  if (kind !== 'teams' && tenantId !== (await tenant.id())) {
    throw validationError(
      'kind',
      'other_tenant',
      'is for the tenant of the people who sign in (ACTLOG_TENANT) only',
    );
  }
  return driver;
}

async function existing(db: Database, tenantId: number, id: string): Promise<StoredChannel> {
  const channel = await findChannel(db, tenantId, id);
  if (!channel || channel.kind === 'webhook') throw notFound('channel');
  return channel;
}

async function stateOf(db: Database, tenantId: number, id: string): Promise<Channel> {
  return viewOf(db, await existing(db, tenantId, id));
}

/** Returns a channel as the API shows it. */
async function viewOf(db: Database, channel: StoredChannel): Promise<Channel> {
  const { muted_until_ms: mutedMs } = channel;
  return {
    id: channel.id,
    kind: channel.kind as ChannelKind,
    name: channel.name ?? '',
    settings: JSON.parse(channel.settings) as Record<string, unknown>,
    rules: rulesOf(channel),
    status: channel.status,
    mutedUntil: mutedMs !== null && mutedMs > Date.now() ? isoTime(mutedMs) : null,
    createdAt: isoTime(channel.created_ms),
    lastDeliveryAt: isoTimeOrNull(channel.last_delivery_ms),
    failureCount: channel.failure_count,
    failingSince: isoTimeOrNull(channel.failing_since_ms),
    lastError:
      channel.failing_since_ms === null ? null : await lastDeliveryError(db, channel.tenant_id, channel.id),
  };
}

async function change(
  db: Database,
  { tenantId }: Caller,
  id: string,
  action: `channel.${string}`,
  changes: Partial<StoredChannel>,
): Promise<ChangedChannel> {
  const channel = await lockChannel(db, tenantId, id);
  if (!channel || channel.kind === 'webhook') throw notFound('channel');
  const next = { ...channel, ...changes };
  await updateChannel(db, channel, changes);
  return { channel: next, change: otherChannelChange(action, channel, next) };
}

/** Changes a channel in one transaction with its entry in the audit log. @throws ApiError `NOT_FOUND`. */
async function changed(
  parts: ChannelApiParts,
  call: ServerCall,
  work: (db: Database) => Promise<ChangedChannel>,
): Promise<void> {
  if (!call.id.startsWith('chn_')) throw notFound('channel');
  try {
    await parts.storage.write(call.caller.tenantId, async ({ db, afterCommit }) => {
      const { change: entry } = await work(db);
      if (entry) await auditRequest(parts, db, call, entry);
      afterCommit(() => parts.outbox.wake());
    });
  } catch (error) {
    if (error instanceof ChannelChangeError && error.reason === 'unknown') throw notFound('channel');
    if (error instanceof ChannelChangeError && error.reason === 'disabled') {
      throw validationError('params.id', 'channel_disabled', 'names a disabled channel; enable it first');
    }
    throw error;
  }
}

/** Queues a test message, whatever the channel receives. It is attempted once. */
async function test(parts: ChannelApiParts, call: ServerCall): Promise<object> {
  validated('body', noBody, call.body);
  const { tenantId } = call.caller;
  let rows: DeliveryRow[] = [];
  await changed(parts, call, async (db) => {
    const channel = await lockChannel(db, tenantId, call.id);
    if (!channel || channel.kind === 'webhook') throw notFound('channel');
    if (channel.status === 'disabled') throw disabledChannel(channel.id);
    const nowMs = Date.now();
    const message: StoredMessage = {
      type: channelTestType,
      timestamp: isoTime(nowMs),
      data: { sessionId: null },
    };
    const sent = { id: newIdentifier('msg'), type: channelTestType, body: JSON.stringify(message) };
    const routed = { ...channel, rules: rulesOf(channel) };
    const recipients = await parts.routing.recipients(db, routed, [], nowMs);
    rows = recipients.map((recipient) => ({
      ...newDelivery({ tenantId, id: channel.id }, sent, nowMs),
      recipient,
    }));
    await insertDeliveries(db, rows);
    return { channel, change: otherChannelChange('channel.tested', channel, channel) };
  });
  if (rows.length === 0) {
    throw validationError(
      'params.id',
      'no_receiver',
      'names a channel without receivers: nobody has subscribed a browser',
    );
  }
  return { items: rows.map(channelDeliveryView) };
}

/** Body of `POST /server/v1/push-subscriptions`. */
const subscribing = z.strictObject({ label: singleLineName, subscription: pushSubscription });

/** Routes with which a person has notifications pushed to their browser. */
function pushRoutes(parts: ChannelApiParts): ServerRoute[] {
  const { storage, secret } = parts;
  const check = ({ user }: Caller) => {
    if (user) return;
    throw new ApiError('PERMISSION_DENIED', 'Only a person who is signed in can subscribe a browser.');
  };
  const path = '/push-subscriptions';
  const view = ({ id, label, created_ms: createdMs }: PushSubscriptionRow) => ({
    id,
    label,
    createdAt: isoTime(createdMs),
  });
  return [
    {
      method: 'GET',
      path,
      success: 200,
      check,
      handle: ({ caller: { tenantId, id } }) =>
        storage.read(tenantId, async (db) => ({
          publicKey: pushKeys(secret).publicKey,
          isOffered: (await allChannels(db, tenantId, 'others')).some(({ kind }) => kind === 'push'),
          items: (await listSubscriptions(db, tenantId, id)).map(view),
        })),
    },
    {
      method: 'POST',
      path,
      success: 201,
      check,
      async handle(call) {
        const { label, subscription } = validated('body', subscribing, call.body);
        const { tenantId, id: personId } = call.caller;
        await inspectedUrl(parts.addressGuard, 'endpoint', subscription.endpoint).catch((error: unknown) => {
          if (!(error instanceof ChannelSettingError)) throw error;
          throw validationError('subscription.endpoint', 'forbidden_address', error.message);
        });
        const row = subscriptionRow(secret, tenantId, personId, label, subscription);
        return storage.write(tenantId, async ({ db }) => {
          await lockNames(db, tenantId, ['push subscriptions']);
          const own = await listSubscriptions(db, tenantId, personId);
          for (const oldest of own.slice(maxBrowsers - 1)) await dropSubscription(db, tenantId, oldest.id);
          await saveSubscription(db, row);
          const target = { id: row.id, name: label };
          await auditRequest(parts, db, call, { action: 'push_subscription.created', target, changes: [] });
          return view(row);
        });
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:id`,
      success: 200,
      check,
      handle: (call) =>
        storage.write(call.caller.tenantId, async ({ db }) => {
          const { tenantId, id: personId } = call.caller;
          const row = await findSubscription(db, tenantId, call.id);
          if (row?.person_id !== personId) throw notFound('subscription');
          await dropSubscription(db, tenantId, row.id);
          const target = { id: row.id, name: row.label };
          await auditRequest(parts, db, call, { action: 'push_subscription.deleted', target, changes: [] });
          return { id: row.id, deleted: true };
        }),
    },
  ];
}

function subscriptionRow(
  secret: DeploymentSecret,
  tenantId: number,
  personId: string,
  label: string,
  subscription: PushSubscription,
): PushSubscriptionRow {
  const id = newIdentifier('psh');
  return {
    tenant_id: tenantId,
    id,
    person_id: personId,
    digest: hash('sha256', subscription.endpoint),
    label,
    subscription: secret.encrypt(
      JSON.stringify(subscription),
      subscriptionContext({ tenant_id: tenantId, id }),
    ),
    created_ms: Date.now(),
  };
}
