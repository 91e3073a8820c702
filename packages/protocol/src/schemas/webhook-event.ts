import * as z from 'zod';
import { pendingAction } from './pending-action.ts';
import { riskLevel } from './risk.ts';
import { looseObject, score, timestamp } from './scalar.ts';

/** Types of webhook delivery (reference profile, "Notification channel"). */
export const webhookEventTypes = [
  'session.risk_raised',
  'policy.matched',
  'guardian.action_pending',
  'guardian.action_decided',
] as const;

function delivery<Type extends WebhookEventType, Data extends z.ZodType>(type: Type, data: Data) {
  return looseObject({
    /** Type of the delivery. */
    type: z.literal(type),
    /** Time of the occurrence, not of the delivery. */
    timestamp,
    /** Data of the delivery, by type. */
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
  /** The new level, higher than the previous one. */
  level: riskLevel,
  /** Previous level; null if the session was not scored before. */
  previousLevel: riskLevel.nullable(),
}).meta({ id: 'RaisedRisk' });

const reportedPolicy = looseObject({
  /** Id of the policy that matched, or `agent_revoked`. */
  policyId: z.string(),
  /** Name of the policy. */
  policyName: z.string(),
  /** Effect of the policy; another policy may take precedence. */
  effect: z.enum(['allow', 'deny', 'require_approval']),
  /** `log_only` policies do not affect the decision. */
  mode: z.enum(['enforce', 'log_only']),
}).meta({ id: 'ReportedPolicy' });

const matchedAction = looseObject({
  /** The agent that is about to act. */
  agentId: z.string(),
  /** Session of the action; null if the check named none. */
  sessionId: z.string().nullable(),
  /** Name of the tool that is about to be called. */
  toolName: z.string(),
  /** Combined decision of the policies. */
  decision: z.enum(['allow', 'deny', 'require_approval']),
  /** Policies that matched, in order of precedence; at most 100. */
  policies: z.array(reportedPolicy),
  /** Number of matching policies beyond those in `policies`; 0 for up to 100. */
  morePolicies: z.int().min(0),
}).meta({ id: 'MatchedAction' });

/** Body of a webhook delivery, discriminated by `type` (Standard Webhooks, "Payload structure"). */
export const webhookEvent = z.discriminatedUnion('type', [
  delivery('session.risk_raised', raisedRisk),
  delivery('policy.matched', matchedAction),
  delivery('guardian.action_pending', pendingAction.accepted),
  delivery('guardian.action_decided', pendingAction.accepted),
]);

/** Type of a webhook delivery. */
export type WebhookEventType = (typeof webhookEventTypes)[number];
/** Body of a webhook delivery. */
export type WebhookEvent = z.output<typeof webhookEvent>;
