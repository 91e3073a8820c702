import * as z from 'zod';
import { limits } from '../limits.ts';
import { callerIdentity, heldAction } from './check.ts';
import { editableArgument } from './policy.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { looseObject, strictObject, text, timestamp } from './scalar.ts';

/** Decision of an approver about a held action. */
const decision = looseObject({
  /** `approve` if the action may run, else `deny`. */
  decision: z.enum(['approve', 'deny']),
  /** Comment of the approver; null for none. */
  comment: z.string().nullable(),
  /** Id of the approver: an API key (`key_…`), or a person who is signed in (`usr_…`). */
  decidedBy: z.string(),
  /** The approver, where the deployment knows the person; null otherwise. */
  principal: z.string().nullable(),
  /** Time of the decision. */
  decidedAt: timestamp,
}).meta({ id: 'Decision' });

const choice = {
  /**
   * `action` for the same action: the same tool, arguments hash and shown arguments; `tool` for any call of the same tool
   * that the same policies hold. Both only for the same agent in the same session.
   */
  for: z.enum(['action', 'tool']),
} as const;

const bounds = {
  /** Time for which the grant is valid, in seconds; at most one day, 3,600 by default. */
  durationSeconds: z.int().min(1).max(86_400),
  /** Number of actions that the grant lets run; not limited by default. */
  maxUses: z.int().min(1).max(1000),
} as const;

/** Choice of an approver to let later actions run as well. */
export const grantChoice = strictObject(choice, bounds).meta({ id: 'GrantChoice' });

/** Choice of an approver, as the service returns it. */
const givenGrant = looseObject(choice, bounds).meta({ id: 'GivenGrant' });

/** Approval of one approver. */
export const givenApproval = looseObject({
  /** Id of the approver: an API key (`key_…`), or a person who is signed in (`usr_…`). */
  approvedBy: z.string(),
  /** The approver, where the deployment knows the person; null otherwise. */
  principal: z.string().nullable(),
  /** Comment of the approver; null for none. */
  comment: z.string().nullable(),
  /** Time of the approval. */
  approvedAt: timestamp,
  /** Choice for later actions, which applies if every approver makes one; null for this action only. */
  grant: givenGrant.nullable(),
}).meta({ id: 'GivenApproval' });

/** Approvals that a held action needs, and those that it has. */
const approvals = looseObject({
  /** Number of approvers who must approve; the last one completes the approval. A single denial is enough to deny. */
  required: z.int(),
  /** Ids of the keys that may approve; null for every key with the scope `decide`. */
  approverKeys: z.array(z.string()).nullable(),
  /** Groups whose people may approve; null for everyone who may decide. */
  approverGroups: z.array(z.string()).nullable(),
  /** `true` if the requester cannot approve: neither the key that sent the check, nor the same principal. */
  notRequester: z.boolean(),
  /** `true` if nobody can approve the action unless its principal is verified. */
  verifiedPrincipal: z.boolean(),
  /** Approvals so far, oldest first; each approver counts once. */
  given: z.array(givenApproval),
}).meta({ id: 'Approvals' });

/** Values of arguments, by path such as `amount` or `address.city`. */
const changedArguments = z.record(z.string(), z.unknown());

const fixed = {
  /** Permanent identifier; a check returns it as `pendingActionId`. */
  id: z.string(),
} as const;

const profile = {
  /** `expired` if no decision was made in time, `withdrawn` if a person has decided at the agent's own prompt; every status but `pending` is final. */
  status: z.enum(['pending', 'approved', 'denied', 'expired', 'withdrawn']),
  /** The agent whose action is held. */
  agentId: z.string(),
  /** Session of the action; null if the check named none. */
  sessionId: z.string().nullable(),
  /** The policy that holds the action. */
  policyId: z.string(),
  /** Name of the policy when it held the action. */
  policyName: z.string(),
  /** Action that the agent is about to take. */
  action: heldAction,
  /** Reason for holding it: the message of the policy, or else why the policy applies. */
  reason: z.string(),
  /** Time at which the action was held. */
  createdAt: timestamp,
  /** Time at which the action expires without a decision. */
  expiresAt: timestamp,
  /** Decision that the agent receives if nobody decides in time. */
  onTimeout: z.enum(['deny', 'allow']),
  /** `true` if the approval is for one call, as the policy stated when the action was held. */
  singleUse: z.boolean(),
  /** Time at which a call used the approval; null if unused or if the approval is not limited to one call. */
  usedAt: timestamp.nullable(),
  /** Id of the API key that sent the check. Null for actions held by an earlier version. */
  requestedBy: z.string().nullable(),
  /** Person or system on whose behalf the agent acts, as the check stated; null for none. */
  principal: z.string().nullable(),
  /** Name of the agent's subagent that acts, as the check stated; null for none. */
  subagent: z.string().nullable(),
  /** Agents that the agent runs inside, nearest first; empty for none. */
  parentAgentIds: z.array(z.string()),
  /** Verified identity of the caller of the check; null if it sent no token. */
  identity: callerIdentity.nullable(),
  /** W3C `traceparent` of the call that was checked; null if its check named none. */
  traceparent: z.string().nullable(),
  /** Approvals that the action needs, and those that it has. */
  approvals,
  /** Id of the grant that the approval created for later actions; null for none. */
  grantId: z.string().nullable(),
  /** Arguments that the approver may change, with their limits; empty for none. */
  editable: z.array(editableArgument),
  /** Values of arguments that the approver changed, by path; the approval holds for them. Null for the requested arguments. */
  changedArguments: changedArguments.nullable(),
  /** Hash of the changed arguments that the agent ran; null if it has not run them, or none were changed. */
  executedHash: z.string().nullable(),
  /** Decision of the approver; null if there is none, also while further approvals are needed. */
  decision: decision.nullable(),
} as const;

/** The fields of {@link pendingAction} that the specification fixes. */
export type FixedPendingActionShape = { readonly [Field in keyof typeof fixed]: (typeof fixed)[Field] };
/** The fields of {@link pendingAction} that the reference profile adds. */
export type PendingActionShape = { readonly [Field in keyof typeof profile]: (typeof profile)[Field] };

/** A held action that waits for approval. */
export const pendingAction = resource<FixedPendingActionShape, PendingActionShape>(
  'PendingAction',
  fixed,
  profile,
);

/** Body of `POST /v1/guardian/pending-actions/:id/decide`. */
export const decide = strictObject({
  /** `approve` lets the action run once enough approvers have approved, `deny` does not; final. */
  decision: z.enum(['approve', 'deny']),
  /** Comment that is passed to the agent, so write it for the model, at most 2,000 characters; none if omitted. */
  comment: text(2000).optional(),
  /** Lets later actions of the same session run without another approval, with `approve` only; only this action if omitted. */
  grant: grantChoice.optional(),
  /** Changed values of shown arguments, by path such as `amount` or `address.city`, with `approve` only and within `editable` of the action; the requested arguments if omitted or empty. */
  changedArguments: changedArguments
    .refine(
      (changes) => Object.keys(changes).length <= limits.maxEditableArguments,
      `must have at most ${limits.maxEditableArguments} paths`,
    )
    .meta({ maxProperties: limits.maxEditableArguments })
    .optional(),
}).meta({ id: 'Decide' });

/** A held action that waits for approval. */
export interface PendingAction extends Accepted<typeof pendingAction> {}
/** Body of a decision. */
export type Decide = Given<typeof decide>;
/** Approval of one approver. */
export type GivenApproval = z.output<typeof givenApproval>;
/** Choice of an approver to let later actions run as well. */
export type GrantChoice = z.output<typeof grantChoice>;
