import type { WebhookDelivery, WebhookState } from '@actlog/protocol';
import { pageQuery } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { requireScope } from '../http/authentication.ts';
import { readPage } from '../http/page.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { notFound } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';
import { type ChannelHealth, channelHealth } from '../storage/stores/channel-health.ts';
import { findChannel, type StoredChannel } from '../storage/stores/channel-store.ts';
import { type DeliveryRow, deliveryPage } from '../storage/stores/delivery-store.ts';
import type { Database } from '../storage/transaction.ts';
import { webhookHealthView } from './overview-view.ts';

/** Query of `GET /server/v1/webhooks/:id/deliveries`. */
const deliveriesQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only deliveries in this state. */
  status: z.enum(['waiting', 'delivered', 'failed']).optional(),
});

/** Returns a webhook with the state of its deliveries. @throws ApiError `NOT_FOUND`. */
export async function webhookState(db: Database, tenantId: number, id: string) {
  const channel = await findChannel(db, tenantId, id);
  const [health] = await channelHealth(db, tenantId, id);
  if (!channel || !health) throw notFound('webhook');
  return webhookStateView(channel, health, Date.now());
}

/** Route `GET /server/v1/webhooks/:id`: a webhook with the state of its deliveries. */
export function webhookRoute({ storage }: Services): ServerRoute {
  return {
    method: 'GET',
    path: '/webhooks/:id',
    success: 200,
    check: (caller) => requireScope(caller, 'read'),
    handle: ({ caller: { tenantId }, id }) => storage.read(tenantId, (db) => webhookState(db, tenantId, id)),
  };
}

/** Route `GET /server/v1/webhooks/:id/deliveries`: the messages to a webhook, newest first, without their content. */
export function deliveriesRoute({ storage, cursors }: Services): ServerRoute<typeof deliveriesQuery> {
  return {
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    success: 200,
    query: deliveriesQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, id, query }) {
      return storage.read(tenantId, async (db) => {
        if (!(await findChannel(db, tenantId, id))) throw notFound('webhook');
        const { rows, nextCursor } = await readPage(
          cursors,
          { tenantId, endpoint: 'deliveries', filters: { ...query, id } },
          query,
          ({ after, limit }) =>
            deliveryPage(db, {
              tenantId,
              channelId: id,
              status: query.status,
              after: after && { createdMs: after[0] as number, id: after[1] as string },
              limit,
            }),
          (row) => [row.created_ms, row.id],
        );
        return { items: rows.map(deliveryView), nextCursor };
      });
    },
  };
}

/** Returns a webhook with the state of its deliveries, as the API returns it. */
function webhookStateView(channel: StoredChannel, health: ChannelHealth, nowMs: number): WebhookState {
  const { previous_until_ms: untilMs } = channel;
  return {
    ...webhookHealthView(health),
    events: channel.events,
    riskLevel: channel.risk_level,
    createdAt: isoTime(channel.created_ms),
    previousSecretUntil: untilMs !== null && untilMs > nowMs ? isoTime(untilMs) : null,
  };
}

/** Returns a delivery as the API returns it: without the body of the message. */
export function deliveryView(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    webhookId: row.channel_id,
    messageId: row.message_id,
    eventType: row.event_type as WebhookDelivery['eventType'],
    status: row.status,
    attempts: row.attempts,
    createdAt: isoTime(row.created_ms),
    nextAttemptAt: row.status === 'waiting' ? isoTime(row.next_attempt_ms) : null,
    finishedAt: isoTimeOrNull(row.finished_ms),
    responseStatus: row.last_status,
    error: row.last_error,
    durationMs: row.last_duration_ms,
  };
}
