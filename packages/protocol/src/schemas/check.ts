import * as z from 'zod';
import { type Accepted, type Given, resource } from './resource.ts';
import { identifier, line, timestamp } from './scalar.ts';

/** A tool call that is about to happen. */
export const proposedAction = z.strictObject({
  toolName: identifier,
  argumentsHash: identifier,
  /** Only what the caller chose to show, for conditions to look at. */
  arguments: z.record(z.string(), z.unknown()).optional(),
});

/** Body of `POST /v1/policies/check`. */
export const policyCheck = z.strictObject({
  agentId: identifier,
  sessionId: identifier.optional(),
  action: proposedAction,
  framework: line(100).optional(),
  environment: line(100).optional(),
  /** Names the action through repeated checks, so that a held caller learns of the decision. */
  actionId: identifier.optional(),
});

/** A policy that applied to a checked action. */
export const policyMatched = z.looseObject({
  policyId: z.string(),
  effect: z.enum(['allow', 'deny', 'require_approval']),
  mode: z.enum(['enforce', 'log_only']),
  why: z.string(),
  message: z.string().nullable(),
});

/** Answer of `POST /v1/policies/check`. */
export const checkResult = resource(
  'CheckResult',
  {},
  {
    decision: z.enum(['allow', 'deny', 'require_approval']),
    /** The policy or the person behind the decision; null when nothing matched. */
    decidedBy: z.string().nullable(),
    matched: z.array(policyMatched),
    pendingActionId: z.string().nullable(),
    /** What the person said who decided about the pending action. */
    comment: z.string().nullable(),
    expiresAt: timestamp.nullable(),
  },
);

/** Body of `POST /v1/policies/check`. */
export type PolicyCheck = Given<typeof policyCheck>;
/** Answer of `POST /v1/policies/check`. */
export type CheckResult = Accepted<typeof checkResult>;
