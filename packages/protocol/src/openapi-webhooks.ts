import * as z from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { webhookHeaders } from './headers.ts';
import { deliveryExamples } from './openapi-examples.ts';
import { deliveries } from './openapi-operations.ts';
import { pendingAction } from './schemas/pending-action.ts';
import { type WebhookEventType, webhookEvent } from './schemas/webhook-event.ts';

/** What the document calls the body of a delivery: `PolicyMatchedMessage` for `policy.matched`. */
function webhookMessageName(type: WebhookEventType): string {
  return `${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Message`;
}

const descriptions: Record<keyof typeof webhookHeaders, string> = {
  id: 'Unique id of the message, the same through all tries.',
  timestamp: 'Seconds since the epoch at which this try was sent.',
  signature: 'One or more signatures, `v1,<base64>`, separated by spaces.',
};

const signed = Object.entries(webhookHeaders).map(([name, header]) => ({
  in: 'header' as const,
  name: header,
  required: true,
  description: descriptions[name as keyof typeof webhookHeaders],
  schema: { type: 'string' as const },
}));

/** What is delivered to webhooks (Standard Webhooks), by its kind. */
export const webhooks: ZodOpenApiPathsObject = Object.fromEntries(
  webhookEvent.options.map(({ shape }) => {
    const type = shape.type.value;
    // The service sends its records whole.
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
        '2XX': { description: 'The delivery was taken.' },
        410: { description: 'Nothing is wanted any more: the webhook is disabled.' },
      },
    };
    return [type, { post: delivery }];
  }),
);
