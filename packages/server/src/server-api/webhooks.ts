import { type WebhookDelivery, type WebhookState, webhookTestType } from '@actlog/protocol';
import { pageQuery, riskLevel } from '@actlog/protocol/schemas';
import * as z from 'zod';
import { type Cursors, readCreatedPage } from '../http/page.ts';
import { requireScope } from '../http/request-gate.ts';
import { validated } from '../http/request-input.ts';
import type { ServerCall, ServerRoute } from '../http/server-route.ts';
import { notFound, validationError } from '../lib/api-error.ts';
import { newIdentifier } from '../lib/identifier.ts';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import { repeat } from '../lib/repeat.ts';
import type { Storage } from '../storage/storage.ts';
import {
  type ChannelHealth,
  channelHealth,
  findChannel,
  lockChannel,
  type StoredChannel,
} from '../storage/stores/channel-store.ts';
import {
  type DeliveryRow,
  deliveryPage,
  dropDeliveriesTo,
  insertDeliveries,
} from '../storage/stores/delivery-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type AuditParts, auditRequest } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { maxOverlapDays, overlapEndMs } from '../tenants/lifetime.ts';
import {
  type ChangedChannel,
  ChannelChangeError,
  changeChannelRiskLevel,
  channelChange,
  deleteChannel,
  disableChannel,
  disabledChannel,
  enableChannel,
  replayDelivery,
  rotateChannelSecret,
  unknownChannel,
} from '../webhooks/channel-changes.ts';
import { newDelivery, type WebhookOutbox } from '../webhooks/webhook-outbox.ts';
import { webhookHealthView } from './overview.ts';

/** Body of a change without options: missing or empty. */
export const noBody: z.ZodType = z.strictObject({}).optional();

/** Body of `POST /server/v1/webhooks/:id/rotate-secret`; a missing body equals an empty one. */
const rotationBody = z
  .strictObject({
    /** Days for which messages are also signed with the old secret, may be fractional. */
    overlapDays: z.number().min(0).max(maxOverlapDays).default(1),
  })
  .prefault({});

/** Body of `POST /server/v1/webhooks/:id/risk-level`. */
const riskLevelBody = z.strictObject({
  /** Lowest level that the webhook receives `session.risk_raised` for. */
  riskLevel,
});

/** Parts of {@link webhookChangeRoutes}. */
export interface WebhookParts extends AuditParts {
  readonly storage: Storage;
  readonly secret: DeploymentSecret;
  readonly outbox: WebhookOutbox;
}

/** Routes that disable, enable, test and delete a webhook, set its lowest level of risk, rotate its secret, and resend one of its messages. */
export function webhookChangeRoutes(parts: WebhookParts): ServerRoute[] {
  const { secret, quotas, storage } = parts;
  const state = async (call: ServerCall, work: (db: Database) => Promise<ChangedChannel>) => {
    validated('body', noBody, call.body);
    return changed(parts, call, async (db) => ({
      ...(await work(db)),
      view: await webhookState(db, call.caller.tenantId, call.id),
    })).then(({ view }) => view);
  };
  return [
    post('/webhooks/:id/disable', (call) =>
      state(call, (db) => disableChannel(db, call.caller.tenantId, call.id)),
    ),
    post('/webhooks/:id/enable', (call) =>
      state(call, (db) => enableChannel(db, call.caller.tenantId, call.id, quotas)),
    ),
    post('/webhooks/:id/risk-level', async (call) => {
      const { riskLevel } = validated('body', riskLevelBody, call.body);
      const { tenantId } = call.caller;
      const { view } = await changed(parts, call, async (db) => ({
        ...(await changeChannelRiskLevel(db, tenantId, call.id, riskLevel)),
        view: await webhookState(db, tenantId, call.id),
      }));
      return view;
    }),
    post('/webhooks/:id/rotate-secret', async (call) => {
      const { overlapDays } = validated('body', rotationBody, call.body);
      const { tenantId } = call.caller;
      const rotation = { tenantId, id: call.id, untilMs: overlapEndMs(overlapDays) };
      const rotated = await changed(parts, call, async (db) => ({
        ...(await rotateChannelSecret(db, secret, rotation)),
        view: await webhookState(db, tenantId, call.id),
      }));
      return { ...rotated.view, secret: rotated.secret };
    }),
    post('/webhooks/:id/test', (call) => delivery(parts, call, queueTestMessage)),
    post('/deliveries/:id/resend', (call) => delivery(parts, call, replayDelivery)),
    {
      method: 'DELETE',
      path: '/webhooks/:id',
      success: 200,
      check: (caller) => requireScope(caller, 'manage'),
      async handle(call) {
        const { id } = call;
        const { tenantId } = call.caller;
        const { channel } = await changed(parts, call, (db) => deleteChannel(db, tenantId, id));
        await repeat(
          () => storage.write(tenantId, ({ db }) => dropDeliveriesTo(db, tenantId, id)),
          undefined,
        );
        return { id: channel.id, deleted: true };
      },
    },
  ];
}

function post(path: string, handle: ServerRoute['handle']): ServerRoute {
  return { method: 'POST', path, success: 200, check: (caller) => requireScope(caller, 'manage'), handle };
}

/** Queues a message, and returns its delivery. */
async function delivery(
  parts: WebhookParts,
  call: ServerCall,
  queue: typeof queueTestMessage,
): Promise<object> {
  validated('body', noBody, call.body);
  const { delivery: row } = await changed(
    parts,
    call,
    (db) => queue(db, call.caller.tenantId, call.id),
    () => parts.outbox.wake(),
  );
  return deliveryView(row);
}

/**
 * Changes a webhook in one transaction with its entry in the audit log.
 *
 * @throws ApiError `NOT_FOUND`, or `VALIDATION_ERROR` for a message to a disabled webhook.
 */
async function changed<Result extends ChangedChannel>(
  parts: WebhookParts,
  call: ServerCall,
  work: (db: Database) => Promise<Result>,
  onCommitted: () => void = () => {},
): Promise<Result> {
  requireWebhook(call.id);
  try {
    return await parts.storage.write(call.caller.tenantId, async ({ db, afterCommit }) => {
      const result = await work(db);
      if (result.change) await auditRequest(parts, db, call, result.change);
      afterCommit(onCommitted);
      return result;
    });
  } catch (error) {
    if (!(error instanceof ChannelChangeError)) throw error;
    if (error.reason === 'unknown') throw notFound(call.id.startsWith('dlv_') ? 'delivery' : 'webhook');
    if (error.reason === 'secret') throw error;
    throw validationError('params.id', 'webhook_disabled', 'names a disabled webhook; enable it first');
  }
}

/** Checks that an id does not belong to a channel of another kind, which has routes of its own. @throws ApiError `NOT_FOUND`. */
function requireWebhook(id: string): void {
  if (id.startsWith('chn_')) throw notFound('webhook');
}

/**
 * Queues a test message to one webhook, whatever types it subscribes to. It is signed as all messages are, and attempted
 * once.
 *
 * @throws ChannelChangeError when there is no such webhook, or when it is disabled.
 */
async function queueTestMessage(
  db: Database,
  tenantId: number,
  id: string,
): Promise<ChangedChannel & { readonly delivery: DeliveryRow }> {
  const channel = await lockChannel(db, tenantId, id);
  if (!channel) throw unknownChannel(id);
  if (channel.status === 'disabled') throw disabledChannel(id);
  const nowMs = Date.now();
  const body = { type: webhookTestType, timestamp: isoTime(nowMs), data: { webhookId: id } };
  const message = { id: newIdentifier('msg'), type: webhookTestType, body: JSON.stringify(body) };
  const delivery = newDelivery({ tenantId, id }, message, nowMs);
  await insertDeliveries(db, [delivery]);
  const sent = [{ field: 'deliveryId', before: null, after: delivery.id }];
  return { channel, delivery, change: channelChange('webhook.tested', channel, channel, sent) };
}

/** Query of `GET /server/v1/webhooks/:id/deliveries`. */
export const deliveriesQuery = z.strictObject({
  ...pageQuery.shape,
  /** Only deliveries in this state. */
  status: z.enum(['waiting', 'delivered', 'failed']).optional(),
});

/** Returns a webhook with the state of its deliveries. @throws ApiError `NOT_FOUND`. */
async function webhookState(db: Database, tenantId: number, id: string) {
  requireWebhook(id);
  const channel = await findChannel(db, tenantId, id);
  const [health] = await channelHealth(db, tenantId, id);
  if (!channel || !health) throw notFound('webhook');
  return webhookStateView(channel, health, Date.now());
}

/** Route `GET /server/v1/webhooks/:id`: a webhook with the state of its deliveries. */
export function webhookRoute({ storage }: { readonly storage: Storage }): ServerRoute {
  return {
    method: 'GET',
    path: '/webhooks/:id',
    success: 200,
    check: (caller) => requireScope(caller, 'read'),
    handle: ({ caller: { tenantId }, id }) => storage.read(tenantId, (db) => webhookState(db, tenantId, id)),
  };
}

/** Parts of {@link deliveryListRoute}. */
export interface DeliveryListParts {
  readonly storage: Storage;
  readonly cursors: Cursors;
}

/** A list of the messages to a receiver. */
interface DeliveryList {
  readonly path: string;
  /** Throws `NOT_FOUND` if the receiver does not exist. */
  readonly requireReceiver: (db: Database, tenantId: number, id: string) => Promise<unknown>;
  readonly view: (row: DeliveryRow) => object;
}

/** Returns the route of the messages to a webhook or a channel, newest first, without their content. */
export function deliveryListRoute(
  { storage, cursors }: DeliveryListParts,
  { path, requireReceiver, view }: DeliveryList,
): ServerRoute<typeof deliveriesQuery> {
  return {
    method: 'GET',
    path,
    success: 200,
    query: deliveriesQuery,
    check: (caller) => requireScope(caller, 'read'),
    handle: ({ caller: { tenantId }, id, query }) =>
      storage.read(tenantId, async (db) => {
        await requireReceiver(db, tenantId, id);
        const { rows, nextCursor } = await readCreatedPage(
          cursors,
          { tenantId, endpoint: 'deliveries', filters: { ...query, id } },
          query,
          (page) =>
            deliveryPage(db, {
              tenantId,
              channelId: id,
              status: query.status,
              ...page,
            }),
        );
        return { items: rows.map(view), nextCursor };
      }),
  };
}

/** Route `GET /server/v1/webhooks/:id/deliveries`: the messages to a webhook, newest first, without their content. */
export function deliveriesRoute(parts: DeliveryListParts): ServerRoute<typeof deliveriesQuery> {
  return deliveryListRoute(parts, {
    path: '/webhooks/:id/deliveries',
    async requireReceiver(db, tenantId, id) {
      requireWebhook(id);
      if (!(await findChannel(db, tenantId, id))) throw notFound('webhook');
    },
    view: deliveryView,
  });
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
