import { webhookEvent } from '@actlog/protocol/schemas';
import ipaddr from 'ipaddr.js';
import { invalid } from '../service/api-error.ts';
import type { Route } from '../service/call.ts';
import { newId } from '../service/new-id.ts';
import { listName, pageOf, placed } from '../service/page.ts';
import type { ChannelRecord } from '../tenant/records.ts';

/** What a webhook gets that names no kinds of event. */
const allEvents = webhookEvent.options.map(({ shape }) => shape.type.value);

/** `POST /v1/notification-channels`: the one time that the signing secret is shown. Nothing is ever sent there. */
export const createChannel: Route<'notificationChannels.create'> = ({ tenant, body, nowMs }) => {
  const url = new URL(body.url);
  if (url.username !== '' || url.password !== '') {
    throw invalid('url', 'credentials_in_url', 'must not hold a user name or password');
  }
  if (!isPublic(url.hostname)) throw invalid('url', 'forbidden_address', 'is not a public address');
  const channel: ChannelRecord = {
    id: newId('nch'),
    kind: 'webhook',
    url: url.href,
    events: [...new Set(body.events ?? allEvents)],
    status: 'active',
    createdAt: new Date(nowMs).toISOString(),
    lastDeliveryAt: null,
    failureCount: 0,
  };
  tenant.channels.set(channel.id, channel);
  const secret = crypto.getRandomValues(new Uint8Array(32));
  return { ...channel, secret: `whsec_${btoa(String.fromCharCode(...secret))}` };
};

/** `GET /v1/notification-channels`. */
export const listChannels: Route<'notificationChannels.list'> = ({ tenant, query }) => {
  const all = placed(tenant.channels.values(), ({ createdAt }) => createdAt);
  const { rows, nextCursor } = pageOf(tenant.cursors, listName('notificationChannels.list', {}), query, all);
  return { items: rows, nextCursor };
};

/** A name passes but for this machine's own: the mock looks nothing up. */
function isPublic(host: string): boolean {
  if (/^localhost\.?$/.test(host)) return false;
  const address = host.replace(/^\[|\]$/g, '');
  return !ipaddr.isValid(address) || ipaddr.process(address).range() === 'unicast';
}
