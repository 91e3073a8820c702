import type { PolicyCheck, SentOf } from '@actlog/protocol';
import { byPrecedence, type FiredPolicy, promptPolicyId } from './fired-policy.ts';

/** Argument that an approver may change, with its limit. */
type Editable = SentOf<'guardian.pendingActions.decide'>['editable'][number];

/** Rules about the approvals of a held action. */
export interface ApprovalRules {
  /** Number of approvers who must approve. */
  readonly required: number;
  /** Ids of the keys that may approve; null for every key that may decide. */
  readonly approverKeys: string[] | null;
  /** Groups whose people may approve; null for everyone who may decide. */
  readonly approverGroups: string[] | null;
  /** `true` if the requester cannot approve. */
  readonly notRequester: boolean;
  /** `true` if nobody can approve unless the principal is verified. */
  readonly verifiedPrincipal: boolean;
  /** `true` if an approval lets one call run. */
  readonly singleUse: boolean;
  /** Arguments that an approver may change. */
  readonly editable: Editable[];
}

/** A policy at a version. */
export interface PolicyVersion {
  readonly id: string;
  /** Null if the version is unknown. */
  readonly version: number | null;
}

/** Returns the policies that require approval. A policy of the mode `log_only` requires nothing. */
function holdingPolicies(fired: readonly FiredPolicy[]): readonly FiredPolicy[] {
  return fired.filter(
    ({ policy: { definition } }) => definition.effect === 'require_approval' && definition.mode === 'enforce',
  );
}

/** Returns the policies that require approval, with their versions. */
export function holdingVersions(fired: readonly FiredPolicy[]): readonly PolicyVersion[] {
  return holdingPolicies(fired).map(({ policy: { id, version } }) => ({ id, version: version ?? null }));
}

/**
 * Returns the rules that satisfy every policy that holds the action, so that another policy that holds the same action
 * cannot bypass one: the highest number of approvers, the keys that all of them permit, and any other restriction.
 */
export function approvalRules(fired: readonly FiredPolicy[]): ApprovalRules {
  const approvals = holdingPolicies(fired).flatMap(({ policy }) => policy.definition.approval ?? []);
  return {
    required: Math.max(1, ...approvals.map(({ requiredApprovers = 1 }) => requiredApprovers)),
    approverKeys: inEvery(approvals.flatMap(({ approverKeys }) => (approverKeys ? [approverKeys] : []))),
    approverGroups: inEvery(
      approvals.flatMap(({ approverGroups }) => (approverGroups ? [approverGroups] : [])),
    ),
    notRequester: approvals.some(({ notRequester }) => notRequester === true),
    verifiedPrincipal: approvals.some(({ verifiedPrincipal }) => verifiedPrincipal === true),
    singleUse: approvals.some(({ singleUse }) => singleUse === true),
    // The agent's prompt has no opinion about changes.
    editable: editableArguments(holdingPolicies(fired).filter(({ policy }) => policy.id !== promptPolicyId)),
  };
}

/** Returns the arguments that every policy lets an approver change, with limits that satisfy all of them. */
function editableArguments(holding: readonly FiredPolicy[]): Editable[] {
  const [first = [], ...others] = holding.map(({ policy }) => policy.definition.approval?.editable ?? []);
  return first.flatMap((argument) => {
    let common: Editable | undefined = argument;
    for (const list of others) {
      const other = list.find(({ path }) => path === argument.path);
      common = common && other && narrowest(common, other);
    }
    return common ? [common] : [];
  });
}

/** Returns the limit that satisfies two of one path; undefined if no value can, or if they are of different kinds. */
function narrowest(left: Editable, right: Editable): Editable | undefined {
  const { path } = left;
  if (left.subset && right.subset) return left;
  if (left.anyText && (right.anyText || right.oneOf)) return right;
  if (right.anyText && left.oneOf) return left;
  if (left.oneOf && right.oneOf) {
    const oneOf = left.oneOf.filter((text) => right.oneOf?.includes(text));
    return oneOf.length === 0 ? undefined : { path, oneOf };
  }
  if (!isOfNumber(left) || !isOfNumber(right)) return undefined;
  const min = Math.max(left.min ?? 0, right.min ?? 0);
  const max = Math.min(left.max ?? Number.POSITIVE_INFINITY, right.max ?? Number.POSITIVE_INFINITY);
  if (max < min) return undefined;
  return { path, min, ...(Number.isFinite(max) && { max }) };
}

function isOfNumber({ min, max }: Editable): boolean {
  return min !== undefined || max !== undefined;
}

/**
 * Returns the policies about an action whose arguments an approver changed. One that requires approval, but did not hold
 * the requested action, denies: nobody approved the changed action for it.
 *
 * @param held - policies that held the requested action
 */
export function policiesOfChanged(
  fired: readonly FiredPolicy[],
  held: readonly PolicyVersion[],
): readonly FiredPolicy[] {
  const isNew = ({ policy: { id, definition } }: FiredPolicy) =>
    definition.effect === 'require_approval' &&
    definition.mode === 'enforce' &&
    held.every((policy) => policy.id !== id);
  const denying = fired.filter(isNew).map(({ policy, why }): FiredPolicy => {
    const message = `The changed arguments need an approval under this policy, which did not hold the requested ones.`;
    return {
      policy: { ...policy, definition: { ...policy.definition, effect: 'deny', message } },
      why: `${why}; it did not hold the requested arguments`,
    };
  });
  if (denying.length === 0) return fired;
  const others = fired.filter((one) => !isNew(one));
  return [...others, ...denying].sort((left, right) =>
    byPrecedence(left.policy.definition, right.policy.definition),
  );
}

/** Returns what every list has, each once; null without lists. */
function inEvery([first, ...others]: readonly (readonly string[])[]): string[] | null {
  if (!first) return null;
  return [...new Set(first.filter((one) => others.every((list) => list.includes(one))))];
}

/** Permission of an approver for later actions of one agent in one session. */
export interface ApprovalGrant {
  readonly id: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Person or system on whose behalf the agent acted; null for none. */
  readonly principal: string | null;
  /** `action` for the same action, `tool` for any call of the same tool. */
  readonly for: 'action' | 'tool';
  readonly toolName: string;
  /** Subject of the approval, which identifies the action. */
  readonly subject: string;
  /** Policies that held the action, at the versions that held it. */
  readonly policies: readonly PolicyVersion[];
  /** Id of the key of the last approver. */
  readonly grantedBy: string;
  /** Time at which it ends, in Unix milliseconds. */
  readonly expiresMs: number;
  /** Number of actions that it still lets run; null if not limited. */
  readonly remainingUses: number | null;
  /** `true` if it was revoked. */
  readonly isRevoked: boolean;
}

/** The check that a grant may allow. */
export interface GrantedCheck {
  readonly check: Pick<PolicyCheck, 'agentId' | 'sessionId' | 'action' | 'principal'>;
  /** Subject that an approval of the action would have. Called only when a grant depends on it. */
  readonly subject: () => string;
  /** Policies that fire, in order of precedence. */
  readonly fired: readonly FiredPolicy[];
  /** Id of the grant that allowed an earlier check of the same `actionId`; null for none. Its use is already counted. */
  readonly usedGrantId: string | null;
  /** Time of the check, in Unix milliseconds. */
  readonly nowMs: number;
}

/**
 * Returns the grant that allows a check, or `undefined` if none does. Every policy that holds the action must have held
 * the approved one, at the same version: a policy that is new, changed, or did not hold the approved action needs a new
 * approval.
 */
export function coveringGrant(
  grants: readonly ApprovalGrant[],
  checked: GrantedCheck,
): ApprovalGrant | undefined {
  const covering = grants.filter((grant) => covers(grant, checked));
  return covering.find(({ id }) => id === checked.usedGrantId) ?? covering[0];
}

function covers(grant: ApprovalGrant, { check, subject, fired, usedGrantId, nowMs }: GrantedCheck): boolean {
  const isLeft = grant.id === usedGrantId || grant.remainingUses === null || grant.remainingUses > 0;
  if (grant.isRevoked || grant.expiresMs <= nowMs || !isLeft) return false;
  if (grant.agentId !== check.agentId || grant.sessionId !== check.sessionId) return false;
  if (grant.principal !== (check.principal ?? null)) return false;
  if (grant.toolName !== check.action.toolName) return false;
  if (grant.for === 'action' && grant.subject !== subject()) return false;
  return holdingPolicies(fired).every(({ policy: { id, version } }) =>
    grant.policies.some((held) => held.id === id && held.version !== null && held.version === version),
  );
}

/**
 * Time after the use of a single-use approval in which a repeat of the same check still gets `allow`, in
 * milliseconds.
 */
export const approvalRepeatMs = 60_000;

/** Record of the check that used a single-use approval. */
export interface ApprovalUse {
  /** The `actionId` of the check; null for a check without one, which cannot be repeated. */
  readonly actionId: string | null;
  /** Time at which the check got its first `allow`, in Unix milliseconds. */
  readonly usedMs: number;
}

/**
 * Returns `true` if a single-use approval can no longer be used by a check: another check used it, or the time for
 * repeats is over. A guard repeats a check when it did not receive the response.
 */
export function isUsedUp(use: ApprovalUse, actionId: string | undefined, nowMs: number): boolean {
  const isRepeat = actionId !== undefined && use.actionId === actionId;
  return !isRepeat || nowMs - use.usedMs > approvalRepeatMs;
}

/** Identity of an approver. */
export interface Approver {
  /** Id of the API key (`key_…`), or of the person who is signed in (`usr_…`). */
  readonly key: string;
  /** The person, where the deployment knows who uses the key; null otherwise. */
  readonly principal: string | null;
  /** Groups of the person who is signed in; none for a key. */
  readonly groups?: readonly string[] | undefined;
}

/** `true` if both are one approver: they use the same key, or are known to be the same person. */
export function isSameApprover(left: Approver, right: Approver): boolean {
  if (left.key === right.key) return true;
  return left.principal !== null && right.principal !== null && isSamePerson(left.principal, right.principal);
}

/** `true` if two names belong to one person: only letter case, white space and Unicode form may differ. */
export function isSamePerson(left: string, right: string): boolean {
  return left === right || personKey(left) === personKey(right);
}

/** Returns a name without the differences that readers do not see, so that nobody counts as two people. */
export function personKey(name: string): string {
  const visible = name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
  // In upper case first, which unites forms of one letter, such as both small sigmas.
  return visible.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
