import type { SentOf } from '@actlog/protocol';
import type { IdentifiedCheck } from '../match/checked-action.ts';
import type { Refusal } from '../requests/refusal.ts';
import type { ApprovalGrant } from './approval-rules.ts';
import { type DefinedPolicy, denyingPolicy, type FiredPolicy, verdictOn } from './fired-policy.ts';
import { type HeldAction, heldOutcome, type NewHeldAction, newHeldAction } from './held-action.ts';

/** Response of `POST /v1/policies/check`. */
export type CheckResponse = SentOf<'policies.check'>;

/** Stored state of an action that was checked under its `actionId` before. */
export interface KnownAction {
  /** Id of its held action; null if it was never held. */
  readonly heldId: string | null;
  /** `true` if the rates of policies have counted it. */
  readonly isCounted: boolean;
  /** Id of the grant that allowed it; null if none did. */
  readonly grantId: string | null;
}

/** State of the service that determines a check. */
export interface CheckFacts {
  readonly check: IdentifiedCheck;
  /** Policies that fire, in order of precedence. */
  readonly fired: readonly FiredPolicy[];
  /** `true` if a policy with a rate matches the action, whether or not the rate is exceeded. */
  readonly isRated: boolean;
  /** `true` if a condition on the history reads calls like this one; omitted for none. */
  readonly isWatched?: boolean;
  /** The action as its first check left it; undefined for a first check and for one without an `actionId`. */
  readonly known: KnownAction | undefined;
  /** Held action that decides the check; undefined if there is none or its approval is used up. */
  readonly held: HeldAction | undefined;
  /** Grant of an approver that allows the action, if policies would hold it; see `coveringGrant`. */
  readonly grant: ApprovalGrant | undefined;
  /** Equal action without an `actionId` that already waits for approval. */
  readonly equalHeld: HeldAction | undefined;
  /** `true` if the denial by the deciding policy is already recorded in the session. */
  readonly isDenialRecorded: boolean;
  /** Id for the action, if the check holds it. */
  readonly newHeldId: string;
  /** Id of the key that sent the check. */
  readonly keyId: string;
  /** Time of the check, in Unix milliseconds. */
  readonly nowMs: number;
}

/** A change that a check causes. Apply all of a decision's effects in their order, or none. */
export type CheckEffect =
  /** Marks the single-use approval as used. If another check used it first, decide again with the new state. */
  | { readonly type: 'use_approval'; readonly heldId: string }
  /** Stores the hash of the changed arguments, which the action is about to run with, and records that in the session. */
  | { readonly type: 'run_changed'; readonly held: HeldAction }
  /**
   * Counts the action for the grant that allows it, and records that in the session. If the grant has ended meanwhile,
   * decide again with the new state.
   */
  | { readonly type: 'use_grant'; readonly grant: ApprovalGrant; readonly policy: DefinedPolicy }
  /** Holds the action, and records that in its session. */
  | { readonly type: 'hold'; readonly action: NewHeldAction; readonly policy: DefinedPolicy }
  /** Counts the action for the rates of all matching policies. */
  | { readonly type: 'count' }
  /** Adds the call to the history that conditions read, or updates it there; `isAllowed` is `false` for a denied one. */
  | { readonly type: 'record_call'; readonly isAllowed: boolean }
  /** Records a denial in the session. */
  | { readonly type: 'record_denial'; readonly denying: FiredPolicy; readonly heldId: string | null }
  /** Stores the action under its `actionId`. */
  | { readonly type: 'remember'; readonly action: KnownAction };

/** Result of a check. */
export interface CheckDecision {
  readonly response: CheckResponse;
  /** Empty if nothing changes. */
  readonly effects: readonly CheckEffect[];
  /** `true` if no check of the action came before: none under its `actionId`, and no equal one waits. */
  readonly isFirst: boolean;
}

/** Decides a check of an action (specification, `POST /v1/policies/check`). */
export function decideCheck(facts: CheckFacts): CheckDecision {
  const { check, fired, known, nowMs } = facts;
  const { decision, decidedBy } = verdictOn(fired);
  const isHeldFor = decision === 'require_approval' && decidedBy !== undefined;
  const grant = isHeldFor && !facts.held ? facts.grant : undefined;
  const joined = facts.held ?? (isHeldFor && !grant ? facts.equalHeld : undefined);
  const isNew = isHeldFor && !joined && !grant;
  const added = isNew ? newHeldAction(facts.newHeldId, check, facts.keyId, fired, nowMs) : undefined;
  const held = joined ?? added;
  const response = checkResponse(fired, held, grant, isOfRequested(check));
  const joinsEqual = facts.held === undefined && joined !== undefined;
  const counts = facts.isRated && decision !== 'deny';
  const isCounted = counts || known?.isCounted === true;
  const effects: CheckEffect[] = usedApproval(response, joined, check);
  const grantId = grant?.id ?? null;
  if (grant && decidedBy && known?.grantId !== grantId) {
    effects.push({ type: 'use_grant', grant, policy: decidedBy.policy });
  }
  if (added && decidedBy) effects.push({ type: 'hold', action: added, policy: decidedBy.policy });
  if (counts && known?.isCounted !== true && !joinsEqual) effects.push({ type: 'count' });
  effects.push(...recordedCall(facts, response), ...recordedDenial(facts, held));
  const heldId = held?.id ?? null;
  const isDecided = counts || held !== undefined || grant !== undefined || decision === 'deny';
  const action: KnownAction = { heldId, isCounted, grantId };
  if (check.actionId !== undefined && isDecided && !(known && isSameState(known, action))) {
    effects.push({ type: 'remember', action });
  }
  return { response, effects, isFirst: known === undefined && !joinsEqual };
}

/**
 * Decides a check of an action that waits for approval, whenever the decision may have been made: nothing is counted
 * or held. Pass the policies that last, see `lastingPolicies`.
 */
export function decideWaitingCheck(
  facts: Pick<CheckFacts, 'check' | 'fired' | 'isDenialRecorded' | 'isWatched'> & {
    readonly held: HeldAction;
  },
): CheckDecision {
  const response = checkResponse(facts.fired, facts.held, undefined, isOfRequested(facts.check));
  const effects = [
    ...usedApproval(response, facts.held, facts.check),
    ...recordedCall(facts, response),
    ...recordedDenial(facts, facts.held),
  ];
  return { response, effects, isFirst: false };
}

/** `true` for a check of requested arguments, and not of those that an approver changed. */
function isOfRequested({ action }: IdentifiedCheck): boolean {
  return action.changedFrom === undefined;
}

/**
 * Returns the response of a check. A policy that denies now takes precedence over an earlier approval, and a held action
 * over a grant.
 *
 * @param isRequested - `false` for a check of the arguments that an approver changed
 */
export function checkResponse(
  fired: readonly FiredPolicy[],
  held: HeldAction | undefined,
  grant: ApprovalGrant | undefined,
  isRequested: boolean,
): CheckResponse {
  const { decision, decidedBy } = verdictOn(fired);
  const isGranted = grant !== undefined && held === undefined && decision === 'require_approval';
  const outcome =
    held && decision !== 'deny'
      ? heldOutcome(held, isRequested)
      : { decision, decidedBy: decidedBy?.policy.id ?? null, comment: null, changedArguments: null };
  return {
    ...(isGranted
      ? { decision: 'allow', decidedBy: grant.grantedBy, comment: null, changedArguments: null }
      : outcome),
    grantId: isGranted ? grant.id : null,
    matched: fired.map(({ policy: { id, definition }, why }) => ({
      policyId: id,
      policyName: definition.name,
      effect: definition.effect,
      mode: definition.mode,
      why,
      message: definition.message,
    })),
    pendingActionId: held?.id ?? null,
    expiresAt: held?.expiresAt ?? null,
  };
}

/** Refusal of a check whose `actionId` stands for another action. */
export const actionMismatch: Refusal = {
  code: 'ACTION_MISMATCH',
  message: 'Another action was checked under this actionId; use a new actionId for each action.',
};

function isSameState(left: KnownAction, right: KnownAction): boolean {
  return left.heldId === right.heldId && left.isCounted === right.isCounted && left.grantId === right.grantId;
}

function usedApproval(
  { decision }: CheckResponse,
  held: HeldAction | undefined,
  check: IdentifiedCheck,
): CheckEffect[] {
  if (decision !== 'allow' || !held) return [];
  const isUsed = held.singleUse && held.usedAt === null;
  const runsChanged = !isOfRequested(check) && held.executedHash === null;
  return [
    ...(isUsed ? [{ type: 'use_approval', heldId: held.id } as const] : []),
    ...(runsChanged ? [{ type: 'run_changed', held } as const] : []),
  ];
}

/**
 * Returns the effect that records a call. A held action is recorded when it is decided, and one whose arguments an
 * approver changed at the check of the changed ones.
 */
function recordedCall(
  { isWatched }: Pick<CheckFacts, 'isWatched'>,
  { decision, changedArguments }: CheckResponse,
): CheckEffect[] {
  if (!isWatched || decision === 'require_approval' || changedArguments !== null) return [];
  return [{ type: 'record_call', isAllowed: decision === 'allow' }];
}

function recordedDenial(
  { fired, isDenialRecorded }: Pick<CheckFacts, 'fired' | 'isDenialRecorded'>,
  held: HeldAction | undefined,
): CheckEffect[] {
  const denying = denyingPolicy(fired);
  if (!denying || isDenialRecorded) return [];
  return [{ type: 'record_denial', denying, heldId: held?.id ?? null }];
}
