import { Webhooks, WebhookVerificationError } from '@actlog/client';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Received } from './inbox.ts';

/** Options of the receiver. */
export interface ReceiverOptions {
  /** Returns the channel's secrets (`whsec_…`): several during a rotation. Called for every delivery. */
  readonly secrets: () => readonly string[];
  /** Stores a delivery for later; returns `true` if it is new. */
  readonly put: (delivery: Received) => boolean;
  /** Called after a new delivery was stored. */
  readonly onKept: () => void;
}

/**
 * Creates an app that verifies deliveries, stores them, and responds at once. Processing comes later, because a delivery
 * without a prompt response is sent again.
 */
export function createReceiver({ secrets, put, onKept }: ReceiverOptions): Hono {
  const webhooks = new Webhooks();
  const app = new Hono();
  app.post('/actlog', bodyLimit({ maxSize: 1024 * 1024 }), async (context) => {
    const body = await context.req.text(); // unparsed, because the signature covers the bytes
    const event = await webhooks.unwrap(body, context.req.raw.headers, secrets());
    const id = context.req.header('webhook-id') ?? '';
    if (put({ id, event })) onKept();
    return context.body(null, 200); // also for a repeated delivery, which would be sent again
  });
  app.onError((error, context) => {
    if (error instanceof WebhookVerificationError) return context.text('not signed by actlog', 401);
    console.error('Storing a delivery failed:', error.message);
    return context.body(null, 503); // the service retries
  });
  return app;
}
