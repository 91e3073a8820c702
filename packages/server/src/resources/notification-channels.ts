import type { SentOf, WebhookEventType } from '@actlog/protocol';
import { type Cursors, readCreatedPage } from '../http/page.ts';
import type { ReadRoute, WriteRoute } from '../http/route.ts';
import { validationError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { lockNames } from '../storage/locks.ts';
import {
  countActiveChannels,
  countChannels,
  insertChannel,
  listChannels,
  type StoredChannel,
} from '../storage/stores/channel-store.ts';
import { type AuditParts, auditRequest } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { requireRoom } from '../tenants/quotas.ts';
import { type AddressGuard, ForbiddenAddressError, ForbiddenPortError } from '../webhooks/address-guard.ts';
import { channelChange, encryptedFor } from '../webhooks/channel-changes.ts';
import { newWebhookSecret } from '../webhooks/webhook-outbox.ts';

/** Event types of a webhook that does not name any. */
const allEvents: readonly WebhookEventType[] = [
  'session.risk_raised',
  'policy.matched',
  'guardian.action_pending',
  'guardian.action_decided',
];

/** Parts of {@link createChannel}. */
export interface ChannelParts extends AuditParts {
  readonly addressGuard: AddressGuard;
  readonly secret: DeploymentSecret;
}

/** Route `POST /v1/notification-channels`. Shows the signing secret this once. */
export function createChannel(parts: ChannelParts): WriteRoute<'notificationChannels.create'> {
  return {
    kind: 'write',
    async prepare({ body }) {
      const url = new URL(body.url);
      if (url.username !== '' || url.password !== '') {
        throw validationError('url', 'credentials_in_url', 'must not contain a user name or password');
      }
      try {
        await parts.addressGuard.inspect(url);
      } catch (error) {
        if (error instanceof ForbiddenPortError)
          throw validationError('url', 'forbidden_port', error.message);
        if (!(error instanceof ForbiddenAddressError)) throw error;
        throw validationError('url', 'forbidden_address', error.message);
      }
    },
    async handle(call, { db }) {
      const { body, receivedMs } = call;
      const { tenantId } = call.caller;
      await lockNames(db, tenantId, ['channels']);
      await requireRoom(db, tenantId, 'channels', countActiveChannels, parts.quotas);
      await requireRoom(db, tenantId, 'storedChannels', countChannels, parts.quotas);
      const secret = newWebhookSecret();
      const id = newIdentifier('nch');
      const channel: StoredChannel = {
        tenant_id: tenantId,
        id,
        kind: 'webhook',
        name: null,
        settings: '{}',
        rules: '{}',
        muted_until_ms: null,
        url: new URL(body.url).href,
        events: [...new Set(body.events ?? allEvents)],
        secret: encryptedFor({ tenant_id: tenantId, id }, secret, parts.secret),
        previous_secret: null,
        previous_until_ms: null,
        status: 'active',
        risk_level: 'high',
        created_ms: receivedMs,
        last_delivery_ms: null,
        failure_count: 0,
        failing_since_ms: null,
      };
      await insertChannel(db, channel);
      await auditRequest(parts, db, call, channelChange('webhook.created', undefined, channel));
      return { ...channelView(channel), secret };
    },
  };
}

/** Route `GET /v1/notification-channels`. */
export function listChannelsRoute({
  cursors,
}: {
  readonly cursors: Cursors;
}): ReadRoute<'notificationChannels.list'> {
  return {
    kind: 'read',
    async handle({ caller: { tenantId }, query }, db) {
      const { rows, nextCursor } = await readCreatedPage(
        cursors,
        { tenantId, endpoint: 'notificationChannels.list', filters: {} },
        query,
        (page) =>
          listChannels(db, {
            tenantId,
            ...page,
          }),
      );
      return { items: rows.map(channelView), nextCursor };
    },
  };
}

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
