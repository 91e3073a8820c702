import * as z from 'zod';
import { strictObject } from './object.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { timestamp } from './scalar.ts';
import { webhookEventTypes } from './webhook-event.ts';

const fixed = {
  /** Identifies it for good. */
  id: z.string(),
} as const;

const profile = {
  /** Kind of channel; `webhook` is the only one. */
  kind: z.literal('webhook'),
  /** The address that deliveries are sent to. */
  url: z.string(),
  /** Kinds of event that are delivered. */
  events: z.array(z.string()),
  /** `disabled` gets nothing any more: its receiver answered 410, or took nothing for days. */
  status: z.enum(['active', 'disabled']),
  /** When it was created. */
  createdAt: timestamp,
  /** When a delivery was last taken; null before the first. */
  lastDeliveryAt: timestamp.nullable(),
  /** Tries that failed since a delivery was last taken. */
  failureCount: z.int(),
} as const;

/** A webhook. */
export const notificationChannel = resource('NotificationChannel', fixed, profile);

/** A webhook that was just created: the one time its signing secret is shown. */
export const notificationChannelCreated = resource('NotificationChannelCreated', fixed, {
  ...profile,
  /** Signs the deliveries (`whsec_…`, Standard Webhooks); shown this once, so keep it. */
  secret: z.string(),
});

/** Body of `POST /v1/notification-channels`. */
export const notificationChannelCreate = strictObject({
  /** Kind of channel; `webhook` is the only one, and the default. */
  kind: z.literal('webhook').optional(),
  /** Where to deliver: an absolute `http` or `https` address on the public network, without user name or password. */
  url: z.url({ protocol: /^https?$/, error: 'must be an absolute http or https address' }).max(2000),
  /** Kinds of event to deliver; all of them when left out. */
  events: z.array(z.enum(webhookEventTypes)).min(1).optional(),
}).meta({ id: 'NotificationChannelCreate' });

/** A webhook. */
export type NotificationChannel = Accepted<typeof notificationChannel>;
/** A webhook that was just created, with its signing secret. */
export type NotificationChannelCreated = Accepted<typeof notificationChannelCreated>;
/** Body of `POST /v1/notification-channels`. */
export type NotificationChannelCreate = Given<typeof notificationChannelCreate>;
