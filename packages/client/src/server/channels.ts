import type { Actlog, ItemSequence } from '@actlog/client';
import type {
  AlertRule,
  AlertRuleDefinition,
  Channel,
  ChannelDelivery,
  ChannelKind,
  ChannelRules,
} from '@actlog/protocol';
import type { RequestOptions } from '../request/request-options.ts';
import { defaultLimit, serverList } from './server-list.ts';
import type { DeliveryFilters } from './webhooks.ts';

function pathOf(id: string, change = ''): string {
  return `/server/v1/channels/${encodeURIComponent(id)}${change}`;
}

/** The channels of a tenant, and the kinds of channels. */
export interface ChannelList {
  readonly items: readonly Channel[];
  /** For each kind what the operator has to set before the server can use it; null for nothing. */
  readonly kinds: readonly { readonly kind: ChannelKind; readonly problem: string | null }[];
}

/** A new channel. */
export interface NewChannel {
  readonly kind: ChannelKind;
  /** Name for people. */
  readonly name: string;
  /** `{ channel }` for Slack, `{ to }` for mail, `{ url }` for Teams; nothing for push. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Rules for what it receives and when; held actions and alerts, at once, with a reminder, by default. */
  readonly rules?: Partial<ChannelRules>;
}

/**
 * Returns the channels that are not webhooks, oldest first: `GET /server/v1/channels`. Needs a key with the scope `read`.
 *
 * @throws NotFoundError When the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { listChannels } from '@actlog/client/server';
 *
 * for (const { kind, name, lastError } of (await listChannels(client)).items) console.log(kind, name, lastError);
 * ```
 */
export function listChannels(client: Actlog, options: RequestOptions = {}): Promise<ChannelList> {
  return client.request('GET', '/server/v1/channels', options);
}

/**
 * Adds a channel: `POST /server/v1/channels`. Needs a key with the scope `manage`.
 *
 * @throws ValidationError When the settings or rules are not valid, or the operator has not set up the kind.
 *
 * @example
 * ```ts
 * import { createChannel } from '@actlog/client/server';
 *
 * await createChannel(client, { kind: 'slack', name: 'On call', settings: { channel: 'C0123456789' } });
 * ```
 */
export function createChannel(
  client: Actlog,
  channel: NewChannel,
  options: RequestOptions = {},
): Promise<Channel> {
  return client.request('POST', '/server/v1/channels', { ...options, body: channel });
}

/** Returns a channel: `GET /server/v1/channels/:id`. @throws NotFoundError When there is no such channel. */
export function getChannel(client: Actlog, id: string, options: RequestOptions = {}): Promise<Channel> {
  return client.request('GET', pathOf(id), options);
}

/**
 * Replaces the rules of a channel: `POST /server/v1/channels/:id/rules`. Omitted ones get their defaults. Messages that
 * wait stay as they are. Needs a key with the scope `manage`.
 *
 * @throws NotFoundError When there is no such channel.
 */
export function setChannelRules(
  client: Actlog,
  id: string,
  rules: Partial<ChannelRules>,
  options: RequestOptions = {},
): Promise<Channel> {
  return client.request('POST', pathOf(id, '/rules'), { ...options, body: rules });
}

/**
 * Mutes a channel for some minutes, or ends that with null: `POST /server/v1/channels/:id/mute`. Needs a key with the scope
 * `manage`.
 *
 * @throws NotFoundError When there is no such channel.
 */
export function muteChannel(
  client: Actlog,
  id: string,
  minutes: number | null,
  options: RequestOptions = {},
): Promise<Channel> {
  return client.request('POST', pathOf(id, '/mute'), { ...options, body: { minutes } });
}

/** Disables a channel: `POST /server/v1/channels/:id/disable`. @throws NotFoundError When there is no such channel. */
export function disableChannel(client: Actlog, id: string, options: RequestOptions = {}): Promise<Channel> {
  return client.request('POST', pathOf(id, '/disable'), options);
}

/** Enables a channel: `POST /server/v1/channels/:id/enable`. @throws NotFoundError When there is no such channel. */
export function enableChannel(client: Actlog, id: string, options: RequestOptions = {}): Promise<Channel> {
  return client.request('POST', pathOf(id, '/enable'), options);
}

/**
 * Sends a test message to each receiver of a channel, once: `POST /server/v1/channels/:id/test`. Needs a key with the scope
 * `manage`.
 *
 * @returns the deliveries, whose outcome {@link listChannelDeliveries} shows
 * @throws NotFoundError When there is no such channel. ValidationError When it is disabled, or has no receiver.
 */
export function testChannel(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<{ readonly items: readonly ChannelDelivery[] }> {
  return client.request('POST', pathOf(id, '/test'), options);
}

/** Deletes a channel with its log: `DELETE /server/v1/channels/:id`. @throws NotFoundError When there is no such channel. */
export async function deleteChannel(client: Actlog, id: string, options: RequestOptions = {}): Promise<void> {
  await client.request('DELETE', pathOf(id), options);
}

/**
 * Lists the messages to a channel, newest first, without their content: `GET /server/v1/channels/:id/deliveries`.
 *
 * @throws NotFoundError When there is no such channel.
 */
export function listChannelDeliveries(
  client: Actlog,
  id: string,
  filters: DeliveryFilters = {},
  options: RequestOptions = {},
): ItemSequence<ChannelDelivery> {
  return serverList(
    client,
    { path: pathOf(id, '/deliveries'), query: { limit: defaultLimit, ...filters } },
    options,
  );
}

/** Returns the rules of alerts, oldest first: `GET /server/v1/alert-rules`. Needs a key with the scope `read`. */
export function listAlertRules(
  client: Actlog,
  options: RequestOptions = {},
): Promise<{ readonly items: readonly AlertRule[] }> {
  return client.request('GET', '/server/v1/alert-rules', options);
}

/**
 * Adds a rule of alerts: `POST /server/v1/alert-rules`. It looks at what is recorded from then on. Needs a key with the scope
 * `manage`.
 *
 * @throws ValidationError When the rule is not valid.
 *
 * @example
 * ```ts
 * import { createAlertRule } from '@actlog/client/server';
 *
 * await createAlertRule(client, { name: 'Many denials', kind: 'denied', count: 5, windowMinutes: 10 });
 * ```
 */
export function createAlertRule(
  client: Actlog,
  rule: Pick<AlertRuleDefinition, 'name' | 'kind'> & Partial<AlertRuleDefinition>,
  options: RequestOptions = {},
): Promise<AlertRule> {
  return client.request('POST', '/server/v1/alert-rules', { ...options, body: rule });
}

/** Mutes a rule of alerts for some minutes, or ends that with null: `POST /server/v1/alert-rules/:id/mute`. */
export function muteAlertRule(
  client: Actlog,
  id: string,
  minutes: number | null,
  options: RequestOptions = {},
): Promise<AlertRule> {
  const path = `/server/v1/alert-rules/${encodeURIComponent(id)}/mute`;
  return client.request('POST', path, { ...options, body: { minutes } });
}

/** Deletes a rule of alerts: `DELETE /server/v1/alert-rules/:id`. @throws NotFoundError When there is no such rule. */
export async function deleteAlertRule(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<void> {
  await client.request('DELETE', `/server/v1/alert-rules/${encodeURIComponent(id)}`, options);
}
