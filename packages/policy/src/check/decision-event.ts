import {
  type ActivityEvent,
  decisionCategory,
  type PolicyCheck,
  type SentOf,
  schemaVersion,
} from '@actlog/protocol';
import type { ApprovalGrant, Approver } from './approval-rules.ts';
import type { DefinedPolicy } from './fired-policy.ts';
import type { Rate } from './rate.ts';

type PendingAction = SentOf<'guardian.pendingActions.decide'>;

/** Payload of the event that records a decision in the session of its action. */
export interface DecisionPayload {
  readonly toolName: string;
  readonly argumentsHash: string;
  /**
   * `deny` and `require_approval` come from a policy. `partially_approved` is an approval of several; the others end a
   * held action. `approved` with a `grantId` and without a `pendingActionId` is an action that a grant allowed. `changed`
   * is the check of an action whose arguments an approver changed, before it runs.
   */
  readonly decision:
    | 'deny'
    | 'require_approval'
    | 'partially_approved'
    | 'approved'
    | 'denied'
    | 'expired'
    | 'withdrawn'
    | 'changed';
  readonly policyId: string;
  /** Name of the policy at the time of the decision; for a held action, when it was held. */
  readonly policyName: string;
  /** The exceeded rate, if it is the reason; such a denial is temporary. */
  readonly rate?: Rate;
  readonly pendingActionId: string | null;
  /** Id of the approver, a key or a person; null if no person decided. */
  readonly decidedBy: string | null;
  /** The approver, where the deployment knows the person. */
  readonly principal?: string;
  /** Keys that have approved, if the action needs several approvers. */
  readonly approvedBy?: readonly string[];
  /** Number of approvers that the action needs, if it is more than one. */
  readonly requiredApprovers?: number;
  /** Grant that the approval created, or that allowed the action. */
  readonly grantId?: string;
  /** Paths of the arguments that the approver changed, if any. */
  readonly changedPaths?: readonly string[];
  /** Hash of the requested arguments, with `changed`; `argumentsHash` is the hash of the changed ones. */
  readonly requestedHash?: string;
  /** Time for which the action was held, in milliseconds; missing for an action that a grant allowed. */
  readonly heldMs?: number;
}

/** Payload of the event that records the revocation of a grant in its session. */
export interface GrantRevocationPayload {
  readonly toolName: string;
  readonly decision: 'grant_revoked';
  readonly grantId: string;
  /** Id of the key or the person that revoked it. */
  readonly decidedBy: string;
  /** The person, where the deployment knows who it was. */
  readonly principal?: string;
}

/** Returns the payload for a policy that denies or holds an action. */
export function policyDecision(
  { action: { toolName, argumentsHash } }: PolicyCheck,
  decision: 'deny' | 'require_approval',
  { id, definition: { name, rate } }: DefinedPolicy,
  heldId: string | null,
): DecisionPayload {
  return {
    toolName,
    argumentsHash,
    decision,
    policyId: id,
    policyName: name,
    ...(decision === 'deny' && rate !== null && { rate }),
    pendingActionId: heldId,
    decidedBy: null,
    heldMs: 0,
  };
}

/** Returns the payload for an approval of several, or for the end of a held action. */
export function endDecision(
  {
    id,
    policyId,
    policyName,
    action: { toolName, argumentsHash },
    approvals: { required, given },
    grantId,
    changedArguments,
  }: Pick<
    PendingAction,
    'id' | 'policyId' | 'policyName' | 'action' | 'approvals' | 'grantId' | 'changedArguments'
  >,
  decision: 'partially_approved' | 'approved' | 'denied' | 'expired' | 'withdrawn',
  approver: Approver | null,
  heldMs: number,
): DecisionPayload {
  return {
    toolName,
    argumentsHash,
    decision,
    policyId,
    policyName,
    pendingActionId: id,
    decidedBy: approver?.key ?? null,
    ...(approver?.principal != null && { principal: approver.principal }),
    ...(required > 1 && {
      requiredApprovers: required,
      approvedBy: given.map(({ approvedBy }) => approvedBy),
    }),
    ...(grantId !== null && { grantId }),
    ...(changedArguments !== null && { changedPaths: Object.keys(changedArguments) }),
    heldMs,
  };
}

/** Returns the payload for an action that is about to run with arguments that its approver changed. */
export function changedDecision(
  { action: { toolName, argumentsHash, changedFrom } }: PolicyCheck,
  {
    id,
    policyId,
    policyName,
    changedArguments,
    decision,
  }: Pick<PendingAction, 'id' | 'policyId' | 'policyName' | 'changedArguments' | 'decision'>,
): DecisionPayload {
  return {
    toolName,
    argumentsHash,
    requestedHash: changedFrom ?? argumentsHash,
    decision: 'changed',
    policyId,
    policyName,
    pendingActionId: id,
    decidedBy: decision?.decidedBy ?? null,
    ...(decision?.principal != null && { principal: decision.principal }),
    changedPaths: Object.keys(changedArguments ?? {}),
  };
}

/** Returns the payload for an action that a grant of an approver allows. */
export function grantedDecision(
  { action: { toolName, argumentsHash } }: PolicyCheck,
  { id: policyId, definition: { name: policyName } }: DefinedPolicy,
  { id: grantId, grantedBy }: Pick<ApprovalGrant, 'id' | 'grantedBy'>,
): DecisionPayload {
  return {
    toolName,
    argumentsHash,
    decision: 'approved',
    policyId,
    policyName,
    pendingActionId: null,
    decidedBy: grantedBy,
    grantId,
  };
}

/** Returns the event that records a decision, for the risk engine and for the readers of the session. */
export function decisionEvent(
  eventId: string,
  { agentId, sessionId }: { readonly agentId: string; readonly sessionId: string },
  payload: DecisionPayload | GrantRevocationPayload,
  nowMs: number,
): ActivityEvent {
  return {
    eventId,
    agentId,
    sessionId,
    sourceTimestamp: new Date(nowMs).toISOString(),
    category: decisionCategory,
    schemaVersion,
    payload: { ...payload },
  };
}

/**
 * Returns what identifies a denial, so that a policy is recorded once per action however often the action is checked;
 * `undefined` for an action without an id, whose denials are all recorded.
 */
export function denialIdentity(
  { agentId, actionId }: PolicyCheck,
  policyId: string,
  heldId: string | null,
): readonly string[] | undefined {
  const id = actionId ?? heldId;
  return id === null ? undefined : [agentId, id, policyId];
}
