import {
  type CallerIdentity,
  changeCallArguments,
  isSameJson,
  limits,
  type PolicyCheck,
  type SentOf,
} from '@actlog/protocol';
import type { IdentifiedCheck } from '../match/checked-action.ts';
import type { Refusal } from '../requests/refusal.ts';
import { approvalRules, holdingVersions, type PolicyVersion } from './approval-rules.ts';
import { type FiredPolicy, verdictOn } from './fired-policy.ts';

type PendingAction = SentOf<'guardian.pendingActions.decide'>;
type CheckResponse = SentOf<'policies.check'>;

/** State of a held action at the time of a check: an overdue action is `expired`. */
export type HeldAction = Pick<
  PendingAction,
  | 'id'
  | 'status'
  | 'policyId'
  | 'policyName'
  | 'decision'
  | 'onTimeout'
  | 'expiresAt'
  | 'singleUse'
  | 'usedAt'
  | 'requestedBy'
  | 'principal'
  | 'subagent'
  | 'parentAgentIds'
  | 'identity'
  | 'traceparent'
  | 'approvals'
  | 'grantId'
  | 'editable'
  | 'changedArguments'
  | 'executedHash'
>;

/** An action to hold. */
export interface NewHeldAction extends HeldAction {
  readonly action: PolicyCheck['action'];
  /** Text for the approver: the message of the policy, or the reason why it applies. */
  readonly reason: string;
  /** Policies that hold it, in order of precedence; a grant for later actions depends on them. */
  readonly policies: readonly PolicyVersion[];
  readonly createdMs: number;
  readonly expiresMs: number;
}

/** Approval settings of a policy without any. */
const defaultApproval = { timeoutSeconds: 900, onTimeout: 'deny' } as const;

/**
 * Returns the held action for a check that needs approval. `fired` decides `require_approval`.
 *
 * @param requestedBy - id of the key that sent the check
 */
export function newHeldAction(
  id: string,
  { action, principal, subagent, parentAgentIds = [], identity = null, traceparent = null }: IdentifiedCheck,
  requestedBy: string,
  fired: readonly FiredPolicy[],
  nowMs: number,
): NewHeldAction {
  const { policy, why } = verdictOn(fired).decidedBy as FiredPolicy;
  const { timeoutSeconds, onTimeout } = policy.definition.approval ?? defaultApproval;
  const { singleUse, editable, ...rules } = approvalRules(fired);
  const expiresMs = nowMs + timeoutSeconds * 1000;
  return {
    id,
    status: 'pending',
    policyId: policy.id,
    policyName: policy.definition.name,
    action,
    reason: policy.definition.message ?? why,
    decision: null,
    onTimeout,
    singleUse,
    usedAt: null,
    requestedBy,
    principal: principal ?? null,
    subagent: subagent ?? null,
    parentAgentIds: [...parentAgentIds],
    identity,
    traceparent,
    approvals: { ...rules, given: [] },
    grantId: null,
    editable,
    changedArguments: null,
    executedHash: null,
    policies: holdingVersions(fired),
    createdMs: nowMs,
    expiresMs,
    expiresAt: new Date(expiresMs).toISOString(),
  };
}

type HeldOutcome = Pick<CheckResponse, 'decision' | 'decidedBy' | 'comment' | 'changedArguments'>;

/** Outcome for callers that do not know of changes. */
const approvedChanged =
  'It was approved with changed arguments only, and this caller cannot run changed arguments.';

/**
 * Returns the outcome of a check for a held action.
 *
 * @param isRequested - `true` for a check of the requested arguments, which an approval of changed ones does not allow
 */
export function heldOutcome(
  { status, policyId, onTimeout, decision, changedArguments }: HeldAction,
  isRequested: boolean,
): HeldOutcome {
  const unchanged = { changedArguments: null };
  const byPerson = { decidedBy: decision?.decidedBy ?? null, comment: decision?.comment ?? null };
  switch (status) {
    case 'pending':
      return { decision: 'require_approval', decidedBy: policyId, comment: null, ...unchanged };
    case 'approved':
      if (!isRequested || changedArguments === null) return { decision: 'allow', ...byPerson, ...unchanged };
      return {
        decision: 'deny',
        ...byPerson,
        comment: byPerson.comment ?? approvedChanged,
        changedArguments,
      };
    case 'denied':
      return { decision: 'deny', ...byPerson, ...unchanged };
    case 'expired':
      return { decision: onTimeout, decidedBy: policyId, comment: null, ...unchanged };
    // Nobody decided about it here, and only a denial is sure to let nothing run that was not asked for.
    case 'withdrawn':
      return { decision: 'deny', decidedBy: policyId, comment: null, ...unchanged };
  }
}

/** Stored facts of a held action that a check of its changed arguments must match. */
export interface ChangedAction extends Pick<HeldAction, 'status' | 'changedArguments' | 'executedHash'> {
  /** Shown arguments of the requested action. */
  readonly shown: Readonly<Record<string, unknown>> | undefined;
  /** Subject of the approval. */
  readonly subject: string;
}

/**
 * `true` if a check with `changedFrom` is of the arguments that an approver approved: the same action, except for exactly
 * the approved changes. The first such check fixes the hash of the changed arguments.
 *
 * @param subjectOf - returns the subject of an action in the form of `held.subject`
 */
export function isApprovedChange(
  check: PolicyCheck,
  { status, changedArguments, executedHash, shown, subject }: ChangedAction,
  subjectOf: (action: ApprovedAction) => string,
): boolean {
  const { changedFrom, argumentsHash, arguments: given, ...action } = check.action;
  if (changedFrom === undefined || status !== 'approved' || !changedArguments || !shown || !given)
    return false;
  if (executedHash !== null && executedHash !== argumentsHash) return false;
  const requested = { ...action, argumentsHash: changedFrom, arguments: shown };
  if (subjectOf({ ...check, action: requested }) !== subject) return false;
  const changed = changeCallArguments(shown, shown, changedArguments);
  return 'arguments' in changed && isSameJson(changed.arguments, given);
}

/**
 * Returns the refusal of an action with this number of bytes as JSON, or `undefined` if it can be held. Arguments and their
 * origins are never cut, because approvers must see all of them.
 */
export function heldSizeRefusal(bytes: number): Refusal | undefined {
  if (bytes <= limits.maxHeldActionBytes) return undefined;
  return {
    code: 'PAYLOAD_TOO_LARGE',
    message:
      'An action that needs approval may have at most 64 KiB, including its displayed arguments and their origins. Send fewer arguments, or none.',
    details: [{ path: 'action.arguments', code: 'too_big', message: 'exceeds 64 KiB for a held action' }],
  };
}

/**
 * Returns the refusal of a decision about an action that has already ended another way. Its details name the status,
 * and who decided: the key or the person, and the person's name if the service knows it.
 */
export function lateDecisionRefusal({
  status,
  expiresAt,
  decision,
}: Pick<HeldAction, 'status' | 'expiresAt'> & Partial<Pick<HeldAction, 'decision'>>): Refusal {
  const details = [{ path: 'status', code: status as string, message: `The action is ${status}.` }];
  if (decision) {
    const { decidedBy, principal } = decision;
    const message = 'The key that decided, or the person who is signed in.';
    details.push({ path: 'decision.decidedBy', code: decidedBy, message });
    if (principal !== null) {
      details.push({ path: 'decision.principal', code: principal, message: 'The person who decided.' });
    }
  }
  if (status === 'withdrawn') {
    const message = 'The action was withdrawn: its prompt was answered where the agent runs.';
    return { code: 'ALREADY_DECIDED', message, details };
  }
  return status === 'expired'
    ? { code: 'ACTION_EXPIRED', message: `The action expired at ${expiresAt}.`, details }
    : {
        code: 'ALREADY_DECIDED',
        message: `The action is already ${status}; a decision is final.`,
        details,
      };
}

/** A checked or held action, as far as an approval is bound to it. */
export interface ApprovedAction extends Pick<PolicyCheck, 'action'> {
  readonly sessionId?: string | null | undefined;
  readonly principal?: string | null | undefined;
  readonly subagent?: string | null | undefined;
  readonly parentAgentIds?: readonly string[] | undefined;
  readonly identity?: CallerIdentity | null | undefined;
}

/**
 * Returns the subject of an approval as text: session, tool, arguments hash, shown arguments, principal, subagent, the
 * agents above and the verified identity. The text is
 * equal only for equal actions. The order of members does not matter (RFC 8785). An action without shown arguments
 * differs from one that shows an empty object.
 */
export function approvalSubject({
  sessionId,
  action: { toolName, argumentsHash, arguments: shown },
  principal,
  subagent,
  parentAgentIds = [],
  identity,
}: ApprovedAction): string {
  const action: unknown[] = [sessionId ?? null, toolName, argumentsHash];
  // Shown arguments are an object and the principal is a string, so one cannot stand for the other.
  if (shown !== undefined) action.push(sorted(shown));
  if (principal != null) action.push(principal);
  // Sorted arguments have one member, with an empty name.
  if (subagent != null || parentAgentIds.length > 0) action.push({ subagent, parentAgentIds });
  // A list, which no other member is.
  if (identity != null) {
    const { issuer, subject, agentVerified, principalVerified } = identity;
    action.push([issuer, subject, agentVerified, principalVerified]);
  }
  return JSON.stringify(action);
}

/** Sorts members as entries: an object would put numeric names first and drop `__proto__`. */
function sorted(value: unknown): unknown {
  // An object, which no shown value becomes, because members are sorted as the value of an empty name.
  if (typeof value === 'bigint') return { integer: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const names = Object.keys(value).sort();
  return { '': names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]) };
}
