import * as z from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { webhookHeaders } from './headers.ts';
import { deliveryExamples } from './openapi-examples.ts';
import { deliveries } from './openapi-operations.ts';
import { pendingAction } from './schemas/pending-action.ts';
import { type WebhookEventType, webhookEvent } from './schemas/webhook-event.ts';

/** Returns the schema name of a delivery's body: `PolicyMatchedMessage` for `policy.matched`. */
function webhookMessageName(type: WebhookEventType): string {
  return `${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Message`;
}

const descriptions: Record<keyof typeof webhookHeaders, string> = {
  id: 'Unique id of the message, the same for all attempts.',
  timestamp: 'Time at which this attempt was sent, in Unix seconds.',
  signature: 'One or more signatures, `v1,<base64>`, separated by spaces.',
};

const signed = Object.entries(webhookHeaders).map(([name, header]) => ({
  in: 'header' as const,
  name: header,
  required: true,
  description: descriptions[name as keyof typeof webhookHeaders],
  schema: { type: 'string' as const },
}));

/** Webhook deliveries (Standard Webhooks), by type. */
export const webhooks: ZodOpenApiPathsObject = Object.fromEntries(
  webhookEvent.options.map(({ shape }) => {
    const type = shape.type.value;
    // The service sends complete records.
    const data = shape.data === pendingAction.accepted ? pendingAction.sent : shape.data;
    const schema = z.looseObject({ ...shape, data }).meta({ id: webhookMessageName(type) });
    const delivery = {
      operationId: `webhooks.${type}`,
      ...deliveries[type],
      tags: ['notificationChannels'],
      security: [],
      parameters: signed,
      requestBody: {
        required: true,
        content: { 'application/json': { schema, example: deliveryExamples[type] } },
      },
      responses: {
        '2XX': { description: 'The delivery was accepted.' },
        410: { description: 'The receiver wants no more deliveries: the webhook is disabled.' },
      },
    };
    return [type, { post: delivery }];
  }),
);
