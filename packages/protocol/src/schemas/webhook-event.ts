import * as z from 'zod';
import { pendingAction } from './pending-action.ts';
import { riskLevel } from './risk.ts';
import { score, timestamp } from './scalar.ts';

/** Kinds of webhook delivery (reference profile, "Notification channel"). */
export const webhookEventTypes = [
  'session.risk_raised',
  'policy.matched',
  'guardian.action_pending',
  'guardian.action_decided',
] as const;

function delivery<Type extends WebhookEventType, Data extends z.ZodType>(type: Type, data: Data) {
  return z.looseObject({ type: z.literal(type), timestamp, data });
}

/** Body of a webhook delivery, told apart by `type` (Standard Webhooks, "Payload structure"). */
export const webhookEvent = z.discriminatedUnion('type', [
  delivery(
    'session.risk_raised',
    z.looseObject({
      sessionId: z.string(),
      agentId: z.string(),
      score,
      level: riskLevel,
      previousLevel: riskLevel.nullable(),
    }),
  ),
  delivery(
    'policy.matched',
    z.looseObject({
      policyId: z.string(),
      agentId: z.string(),
      sessionId: z.string().nullable(),
      toolName: z.string(),
      effect: z.enum(['allow', 'deny', 'require_approval']),
      mode: z.enum(['enforce', 'log_only']),
    }),
  ),
  delivery('guardian.action_pending', pendingAction.accepted),
  delivery('guardian.action_decided', pendingAction.accepted),
]);

/** A kind of webhook delivery. */
export type WebhookEventType = (typeof webhookEventTypes)[number];
/** Body of a webhook delivery. */
export type WebhookEvent = z.output<typeof webhookEvent>;
