import { Webhooks, WebhookVerificationError } from '@actlog/client';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Received } from './inbox.ts';

/** Options of the receiver. */
export interface ReceiverOptions {
  /** The `whsec_…` of the channel; several while it is being changed. Asked at every delivery. */
  readonly secrets: () => readonly string[];
  /** Stores a delivery for later; returns `true` if it is new. */
  readonly put: (delivery: Received) => boolean;
  /** Called after a new delivery was kept. */
  readonly onKept: () => void;
}

/**
 * Takes the deliveries of actlog: checks who sent them, keeps them, and answers at once. Nothing is acted on before
 * the answer, because a delivery that is answered late is sent again.
 */
export function createReceiver({ secrets, put, onKept }: ReceiverOptions): Hono {
  const webhooks = new Webhooks();
  const app = new Hono();
  app.post('/actlog', bodyLimit({ maxSize: 1024 * 1024 }), async (context) => {
    const body = await context.req.text(); // as it came: a parsed body cannot be verified
    const event = await webhooks.unwrap(body, context.req.raw.headers, secrets());
    const id = context.req.header('webhook-id') ?? '';
    if (put({ id, event })) onKept();
    return context.body(null, 200); // a doubled delivery too, else it would come again
  });
  app.onError((error, context) => {
    if (error instanceof WebhookVerificationError) return context.text('not signed by actlog', 401);
    console.error('A delivery could not be kept:', error.message);
    return context.body(null, 503); // the service tries again
  });
  return app;
}
