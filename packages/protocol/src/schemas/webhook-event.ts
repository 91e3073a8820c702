import * as z from 'zod';
import { looseObject } from './object.ts';
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
  return looseObject({
    /** What happened; tells the kinds of delivery apart. */
    type: z.literal(type),
    /** When it happened, which is not when it is delivered. */
    timestamp,
    /** What it happened to. */
    data,
  });
}

const raisedRisk = looseObject({
  /** The session whose risk rose. */
  sessionId: z.string(),
  /** The agent that opened the session. */
  agentId: z.string(),
  /** The new score, 0 to 100. */
  score,
  /** The new level, higher than the one before. */
  level: riskLevel,
  /** The level before; null where the session was not scored yet. */
  previousLevel: riskLevel.nullable(),
}).meta({ id: 'RaisedRisk' });

const matchedAction = looseObject({
  /** The policy that matched, or `agent_revoked`. */
  policyId: z.string(),
  /** The agent that is about to act. */
  agentId: z.string(),
  /** The session it acts in; null where the check named none. */
  sessionId: z.string().nullable(),
  /** The tool that it is about to call. */
  toolName: z.string(),
  /** What the policy does to the action; another policy may outweigh it. */
  effect: z.enum(['allow', 'deny', 'require_approval']),
  /** `log_only` decided nothing. */
  mode: z.enum(['enforce', 'log_only']),
}).meta({ id: 'MatchedAction' });

/** Body of a webhook delivery, told apart by `type` (Standard Webhooks, "Payload structure"). */
export const webhookEvent = z.discriminatedUnion('type', [
  delivery('session.risk_raised', raisedRisk),
  delivery('policy.matched', matchedAction),
  delivery('guardian.action_pending', pendingAction.accepted),
  delivery('guardian.action_decided', pendingAction.accepted),
]);

/** A kind of webhook delivery. */
export type WebhookEventType = (typeof webhookEventTypes)[number];
/** Body of a webhook delivery. */
export type WebhookEvent = z.output<typeof webhookEvent>;
