import * as z from 'zod';
import { limits } from '../limits.ts';
import { argumentOrigins, storedArgumentOrigins } from './argument-origin.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { identifier, line, looseObject, resourceId, strictObject, timestamp } from './scalar.ts';

const action = {
  /** Name of the tool that is about to be called. */
  toolName: identifier,
  /** Hash of the call's arguments, such as `sha256:…`; an approval applies only to this hash. */
  argumentsHash: identifier,
  /** Arguments that the caller chose to show for conditions and to the approver; an approval applies only to them. None are shown if omitted. */
  arguments: z.record(z.string(), z.unknown()).optional(),
} as const;

const proposed = {
  ...action,
  /** Sources of the arguments' values for conditions and the approver, by argument path such as `address.city`; an approval does not depend on them. A condition that reads them cannot be evaluated if they are omitted. */
  origins: argumentOrigins.optional(),
  /** `true` if the caller can run the action with arguments that the approver changed; `false` if omitted. */
  acceptsChanges: z.boolean().optional(),
  /** Hash of the requested arguments, if an approver changed them and this is the changed action, under the same `actionId`; none if omitted. */
  changedFrom: identifier.optional(),
} as const;

const held = {
  ...action,
  /** Arguments as JSON text; only if they have whole numbers beyond 2^53, which most parsers round. */
  argumentsJson: z.string().optional(),
  /** Sources of the arguments' values at the first check, by argument path such as `address.city`; missing if that check had none. */
  origins: storedArgumentOrigins.optional(),
  /** `true` if the caller can run the action with arguments that the approver changed. */
  acceptsChanges: z.boolean().optional(),
} as const;

/** The fields of {@link proposedAction}. */
export type ProposedActionShape = { readonly [Field in keyof typeof proposed]: (typeof proposed)[Field] };
/** The fields of {@link heldAction}. */
export type HeldActionShape = { readonly [Field in keyof typeof held]: (typeof held)[Field] };

/** A tool call that is about to happen. */
export const proposedAction = strictObject<ProposedActionShape>(proposed).meta({ id: 'ProposedAction' });

/** A held tool call as the service returns it. */
export const heldAction = looseObject<HeldActionShape>(held).meta({ id: 'HeldAction' });

const identity = {
  /** Issuer of the token. */
  issuer: z.string(),
  /** Subject of the token. */
  subject: z.string(),
  /** `true` if the token verifies the agent of the request. */
  agentVerified: z.boolean(),
  /** `true` if the token names the principal of the request. */
  principalVerified: z.boolean(),
} as const;

/** The fields of {@link callerIdentity}. */
export type CallerIdentityShape = { readonly [Field in keyof typeof identity]: (typeof identity)[Field] };

/** Verified identity of a caller: its token was signed by a configured issuer. */
export const callerIdentity = looseObject<CallerIdentityShape>(identity).meta({ id: 'CallerIdentity' });

/** Body of `POST /v1/policies/check`. */
export const policyCheck = strictObject({
  /** The agent that is about to act. */
  agentId: resourceId,
  /** Session of the action, in which denials and decisions are recorded; none if omitted. */
  sessionId: resourceId.optional(),
  /** Action that the agent is about to take. */
  action: proposedAction,
  /** AI framework of the agent, for policies that match on frameworks; they do not match if omitted. */
  framework: line(100).optional(),
  /** Environment such as `production`, for policies that match on environments; they do not match if omitted. */
  environment: line(100).optional(),
  /**
   * Holds the action for a person's decision even if no policy requires one, as for a permission prompt of the agent itself;
   * a policy that denies takes precedence. The hold ends after this number of seconds without another check of the action.
   * Not held for that reason if omitted.
   */
  holdSeconds: z.int().min(1).max(3600).optional(),
  /** Identifies the action across repeated checks, so that a caller can poll for an approval; unique per action. */
  actionId: identifier.optional(),
  /** Person or system on whose behalf the agent acts, for conditions and the approver; none if omitted. */
  principal: line(200).optional(),
  /** Name of the agent's subagent that acts, for conditions and the approver; it does not count as an agent. None if omitted. */
  subagent: line(200).optional(),
  /** Agents that the agent runs inside, nearest first; their policies, rates and revocation apply too. None if omitted. */
  parentAgentIds: z.array(resourceId).max(limits.maxParentAgents).optional(),
}).meta({ id: 'PolicyCheck' });

/** A policy that applied to a checked action. */
export const policyMatched = looseObject({
  /** Id of the policy, or `agent_revoked`. */
  policyId: z.string(),
  /** Name of the policy. */
  policyName: z.string(),
  /** Effect of the policy on the action. */
  effect: z.enum(['allow', 'deny', 'require_approval']),
  /** `log_only` policies are listed but do not affect the decision. */
  mode: z.enum(['enforce', 'log_only']),
  /** Reason why it applies, in plain words, such as `the tool matches "refund*"`. */
  why: z.string(),
  /** Message of the policy to the caller; null for none. */
  message: z.string().nullable(),
}).meta({ id: 'PolicyMatched' });

/** Response of `POST /v1/policies/check`. */
export const checkResult = resource(
  'CheckResult',
  {},
  {
    /** Decision about the action; on `require_approval` the caller waits and repeats the check. */
    decision: z.enum(['allow', 'deny', 'require_approval']),
    /** Id of the policy that decided, or of the approver's key; `agent_revoked` for a revoked agent; null if no policy matched. */
    decidedBy: z.string().nullable(),
    /** Every policy that applies, in order of precedence; empty if there are none. */
    matched: z.array(policyMatched),
    /** Id of the pending action that was created for this check; null if the action was not held. */
    pendingActionId: z.string().nullable(),
    /** Comment of the approver on the pending action; null for none. */
    comment: z.string().nullable(),
    /** Values of arguments that the approver changed, by path. The decision is then `deny` for the requested arguments: run the changed ones after a check with `changedFrom`. Null for none. */
    changedArguments: z.record(z.string(), z.unknown()).nullable(),
    /** Id of the approver's grant that allowed the action without a new approval; null for none. */
    grantId: z.string().nullable(),
    /** Time at which the approval request expires; null if the action was not held. */
    expiresAt: timestamp.nullable(),
  },
);

/** Verified identity of a caller. */
export type CallerIdentity = z.output<typeof callerIdentity>;
/** Body of `POST /v1/policies/check`. */
export type PolicyCheck = Given<typeof policyCheck>;
/** Response of `POST /v1/policies/check`. */
export interface CheckResult extends Accepted<typeof checkResult> {}
