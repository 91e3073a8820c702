import * as z from 'zod';
import { looseObject, strictObject } from './object.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { identifier, line, timestamp } from './scalar.ts';

const action = {
  /** The tool that is about to be called. */
  toolName: identifier,
  /** Hash of the call's arguments, such as `sha256:…`: an approval is bound to it. */
  argumentsHash: identifier,
  /** Only what the caller chose to show, for conditions and for who decides. Nothing is shown where it is left out. */
  arguments: z.record(z.string(), z.unknown()).optional(),
} as const;

/** The fields of {@link proposedAction}. */
export type ProposedActionShape = { readonly [Field in keyof typeof action]: (typeof action)[Field] };

/** A tool call that is about to happen. */
export const proposedAction = strictObject<ProposedActionShape>(action).meta({ id: 'ProposedAction' });

/** A tool call that is held, as the service reads it back. */
export const heldAction = looseObject<ProposedActionShape>(action).meta({ id: 'HeldAction' });

/** Body of `POST /v1/policies/check`. */
export const policyCheck = strictObject({
  /** The agent that is about to act. */
  agentId: identifier,
  /** The session it acts in, where denials and decisions are then recorded; left out: none. */
  sessionId: identifier.optional(),
  /** What it is about to do. */
  action: proposedAction,
  /** The AI framework it runs on, for policies that name frameworks; left out, they do not match. */
  framework: line(100).optional(),
  /** Where it runs, such as `production`, for policies that name environments; left out, they do not match. */
  environment: line(100).optional(),
  /** Names the action through repeated checks, so that a held caller learns of the decision; one for each action. */
  actionId: identifier.optional(),
}).meta({ id: 'PolicyCheck' });

/** A policy that applied to a checked action. */
export const policyMatched = looseObject({
  /** The policy, or `agent_revoked`. */
  policyId: z.string(),
  /** What the policy does to the action. */
  effect: z.enum(['allow', 'deny', 'require_approval']),
  /** `log_only` is told of here and decides nothing. */
  mode: z.enum(['enforce', 'log_only']),
  /** Why it applies, in plain words, such as `the tool fits "refund*"`. */
  why: z.string(),
  /** What the policy tells the caller; null for nothing. */
  message: z.string().nullable(),
}).meta({ id: 'PolicyMatched' });

/** Answer of `POST /v1/policies/check`. */
export const checkResult = resource(
  'CheckResult',
  {},
  {
    /** Whether the action may run; at `require_approval` it has to wait, and the caller asks again. */
    decision: z.enum(['allow', 'deny', 'require_approval']),
    /** Id of the policy, or of the key of the person, behind the decision; `agent_revoked` where that is why; null when nothing matched. */
    decidedBy: z.string().nullable(),
    /** Every policy that applies, in the order of precedence; empty for none. */
    matched: z.array(policyMatched),
    /** The action that waits or waited for a person; null when none was held. */
    pendingActionId: z.string().nullable(),
    /** What the person said who decided about the pending action; null for nothing. */
    comment: z.string().nullable(),
    /** When the wait for a person ends; null when none was held. */
    expiresAt: timestamp.nullable(),
  },
);

/** Body of `POST /v1/policies/check`. */
export type PolicyCheck = Given<typeof policyCheck>;
/** Answer of `POST /v1/policies/check`. */
export type CheckResult = Accepted<typeof checkResult>;
