import { webhookEvent } from '@actlog/protocol/schemas';
import ipaddr from 'ipaddr.js';
import { invalid } from '../service/api-error.ts';
import type { Route } from '../service/call.ts';
import { newId } from '../service/new-id.ts';
import { listName, pageOf, placed } from '../service/page.ts';
import type { ChannelRecord } from '../tenant/records.ts';

/** Default event types of a webhook. */
const allEvents = webhookEvent.options.map(({ shape }) => shape.type.value);

/** `POST /v1/notification-channels`: the only response with the signing secret. Nothing is ever delivered. */
export const createChannel: Route<'notificationChannels.create'> = ({ tenant, body, nowMs }) => {
  const url = new URL(body.url);
  if (url.username !== '' || url.password !== '') {
    throw invalid('url', 'credentials_in_url', 'must not contain a user name or password');
  }
  if (url.port !== '' && url.port !== '443' && url.port !== '80') {
    throw invalid(
      'url',
      'forbidden_port',
      `uses port ${url.port}; webhooks go to the ports 443 and 80 only, unless the operator of the service allows others`,
    );
  }
  if (!isPublic(url.hostname))
    throw invalid(
      'url',
      'forbidden_address',
      'is not a public address; the operator of the service can allow ranges',
    );
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

/** `true` for any name but those of the local machine: the mock resolves no names. */
function isPublic(host: string): boolean {
  if (/^localhost\.?$/.test(host)) return false;
  const address = host.replace(/^\[|\]$/g, '');
  return !ipaddr.isValid(address) || ipaddr.process(address).range() === 'unicast';
}
