import * as z from 'zod';
import { type Accepted, type Given, resource } from './resource.ts';
import { strictObject, timestamp } from './scalar.ts';
import { webhookEventTypes } from './webhook-event.ts';

const fixed = {
  /** Permanent identifier. */
  id: z.string(),
} as const;

const profile = {
  /** Kind of channel; `webhook` is the only one. */
  kind: z.literal('webhook'),
  /** URL that deliveries are sent to. */
  url: z.string(),
  /** Types of event to deliver. */
  events: z.array(z.string()),
  /** `disabled` channels receive nothing: the receiver returned 410, or accepted nothing for days. */
  status: z.enum(['active', 'disabled']),
  /** Time at which the webhook was created. */
  createdAt: timestamp,
  /** Time at which a delivery was last accepted; null before the first. */
  lastDeliveryAt: timestamp.nullable(),
  /** Failed attempts since a delivery was last accepted. */
  failureCount: z.int(),
} as const;

/** A webhook. */
export const notificationChannel = resource('NotificationChannel', fixed, profile);

/** A newly created webhook. No other response contains its signing secret. */
export const notificationChannelCreated = resource('NotificationChannelCreated', fixed, {
  ...profile,
  /** Secret that signs the deliveries (`whsec_…`, Standard Webhooks); returned only once, so store it. */
  secret: z.string(),
});

/** Body of `POST /v1/notification-channels`. */
export const notificationChannelCreate = strictObject({
  /** Kind of channel; `webhook` is the only one, and the default. */
  kind: z.literal('webhook').optional(),
  /** URL to deliver to: absolute `http` or `https`, on the public network, without user name or password. */
  url: z.url({ protocol: /^https?$/, error: 'must be an absolute http or https address' }).max(2000),
  /** Types of event to deliver; all types if omitted. */
  events: z.array(z.enum(webhookEventTypes)).min(1).optional(),
}).meta({ id: 'NotificationChannelCreate' });

/** A webhook. */
export interface NotificationChannel extends Accepted<typeof notificationChannel> {}
/** A newly created webhook with its signing secret. */
export interface NotificationChannelCreated extends Accepted<typeof notificationChannelCreated> {}
/** Body of `POST /v1/notification-channels`. */
export type NotificationChannelCreate = Given<typeof notificationChannelCreate>;
