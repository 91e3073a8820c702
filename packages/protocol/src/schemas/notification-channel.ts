import * as z from 'zod';
import { type Accepted, type Given, resource } from './resource.ts';
import { timestamp } from './scalar.ts';
import { webhookEventTypes } from './webhook-event.ts';

const profile = {
  kind: z.literal('webhook'),
  url: z.string(),
  events: z.array(z.string()),
  status: z.enum(['active', 'disabled']),
  createdAt: timestamp,
  lastDeliveryAt: timestamp.nullable(),
  failureCount: z.int(),
};

/** A webhook. */
export const notificationChannel = resource('NotificationChannel', { id: z.string() }, profile);

/** A webhook that was just created: the one time its signing secret is shown. */
export const notificationChannelCreated = resource(
  'NotificationChannelCreated',
  { id: z.string() },
  { ...profile, secret: z.string() },
);

/** Body of `POST /v1/notification-channels`. */
export const notificationChannelCreate = z.strictObject({
  kind: z.literal('webhook').optional(),
  url: z.url({ protocol: /^https?$/, error: 'must be an absolute http or https address' }).max(2000),
  /** Kinds of event to deliver; all of them when left out. */
  events: z.array(z.enum(webhookEventTypes)).min(1).optional(),
});

/** A webhook. */
export type NotificationChannel = Accepted<typeof notificationChannel>;
/** A webhook that was just created, with its signing secret. */
export type NotificationChannelCreated = Accepted<typeof notificationChannelCreated>;
/** Body of `POST /v1/notification-channels`. */
export type NotificationChannelCreate = Given<typeof notificationChannelCreate>;
