import {
  changeShownArguments,
  type Decide,
  type GivenApproval,
  isSameJson,
  type SentOf,
  stringifyExactJson,
} from '@actlog/protocol';
import { invalidRequest, type Refusal } from '../requests/refusal.ts';
import { type Approver, isSameApprover } from './approval-rules.ts';
import { lateDecisionRefusal } from './held-action.ts';

/** Outcome of an approver's decision. */
export type HeldDecision =
  /** The decision was made before. */
  | { readonly type: 'unchanged' }
  /** It cannot be made. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The approval counts, and further ones are needed. */
  | {
      readonly type: 'counted';
      readonly given: readonly GivenApproval[];
      /** Changed arguments that the approvals are for; null for the requested ones. */
      readonly changedArguments: Changes | null;
    }
  /** The action ends. */
  | {
      readonly type: 'ended';
      readonly status: 'approved' | 'denied';
      readonly given: readonly GivenApproval[];
      /** Grant for later actions; undefined for none. */
      readonly grant: GrantTerms | undefined;
      /** Changed arguments that were approved; null for the requested ones. */
      readonly changedArguments: Changes | null;
    };

type Changes = Readonly<Record<string, unknown>>;

/**
 * Decides a held action. One denial denies it. An approval counts once for each approver, and the last one that is
 * needed completes it. All approvals are for the same arguments: after one with other changes, earlier approvals no longer count. Apply the outcome before another decision reads the action.
 */
export function decideHeld(
  held: DecidableAction,
  body: Pick<Decide, 'decision' | 'comment' | 'grant' | 'changedArguments'>,
  approver: Approver,
  nowMs: number,
): HeldDecision {
  const { decision, comment, grant } = body;
  const changes = wantedChanges(body.changedArguments);
  const isSame = isSameJson(changes, held.changedArguments);
  if (held.status === (decision === 'approve' ? 'approved' : 'denied') && (isSame || decision === 'deny')) {
    return { type: 'unchanged' };
  }
  if (held.status !== 'pending') return { type: 'refused', refusal: lateDecisionRefusal(held) };
  const { given, required } = held.approvals;
  if (decision === 'deny') {
    const refusal = grantRefusal(held, decision, grant, null) ?? changesOfDenial(changes);
    if (refusal) return { type: 'refused', refusal };
    return { type: 'ended', status: 'denied', given, grant: undefined, changedArguments: null };
  }
  const refusal = approvalRefusal(held, approver);
  if (refusal) return { type: 'refused', refusal };
  // Whoever leaves the field out may not know that another approver changed the arguments.
  if (body.changedArguments === undefined && held.changedArguments !== null) {
    return { type: 'refused', refusal: otherChanges };
  }
  const counting = isSame ? given : [];
  if (counting.some(({ approvedBy: key, principal }) => isSameApprover({ key, principal }, approver))) {
    return { type: 'unchanged' };
  }
  const problem = changesRefusal(held, changes) ?? grantRefusal(held, decision, grant, changes);
  if (problem) return { type: 'refused', refusal: problem };
  const approval: GivenApproval = {
    approvedBy: approver.key,
    principal: approver.principal,
    comment: comment ?? null,
    approvedAt: new Date(nowMs).toISOString(),
    grant: grant ? { ...grant } : null,
  };
  const all = [...counting, approval];
  return all.length < required
    ? { type: 'counted', given: all, changedArguments: changes }
    : { type: 'ended', status: 'approved', given: all, grant: grantTerms(all), changedArguments: changes };
}

/** Returns the changes of a decision; null for none. */
function wantedChanges(changes: Decide['changedArguments']): Changes | null {
  return changes === undefined || Object.keys(changes).length === 0 ? null : changes;
}

/** Refusal of an approval that does not say whether it is for the changed arguments. */
const otherChanges: Refusal = {
  code: 'ACTION_MISMATCH',
  message:
    'Another approver changed the arguments. Approve with the same changedArguments, or with others, or with {} for the requested arguments: approvals for other arguments then no longer count.',
  details: [
    {
      path: 'changedArguments',
      code: 'changed',
      message: 'must be given, because another approver changed the arguments',
    },
  ],
};

function changesOfDenial(changes: Changes | null): Refusal | undefined {
  if (changes === null) return undefined;
  return invalidRequest('changedArguments', 'contradiction', 'is allowed only with approve');
}

/** Maximum size of changed arguments as JSON, in characters. */
const maxChangesLength = 16_384;

/** Returns the refusal of changed arguments; undefined if they are permitted. */
function changesRefusal({ action, editable }: DecidableAction, changes: Changes | null): Refusal | undefined {
  if (changes === null) return undefined;
  const refused = (code: string, message: string) => invalidRequest('changedArguments', code, message);
  if (action.arguments === undefined) {
    return refused('not_shown', 'needs shown arguments; the agent shows none (guard.showArguments)');
  }
  const changed = changeShownArguments(action.arguments, editable, changes);
  if ('problem' in changed) {
    const { path, code, message } = changed.problem;
    return invalidRequest(`changedArguments.${path}`.slice(0, 300), code, message);
  }
  if ((stringifyExactJson(changes) as string).length > maxChangesLength) {
    return refused('too_big', `must be at most ${maxChangesLength} characters as JSON`);
  }
  if (action.acceptsChanges === true) return undefined;
  return refused(
    'not_supported',
    'cannot be run by the caller of this action: its framework or adapter passes only the requested arguments on. Approve or deny the requested ones',
  );
}

/** Returns the refusal of an approval by an approver who may not approve the action; undefined if it is permitted. */
function approvalRefusal(
  { approvals, requestedBy, principal, identity }: DecidableAction,
  approver: Approver,
): Refusal | undefined {
  const { approverKeys, approverGroups, notRequester } = approvals;
  if (approverKeys && !approverKeys.includes(approver.key)) {
    return forbidden(
      'approver_keys',
      'The policy lets only certain keys approve this action. Use one of them.',
    );
  }
  if (approverGroups && !approver.groups?.some((group) => approverGroups.includes(group))) {
    return forbidden(
      'approver_groups',
      'The policy lets only people of certain groups approve this action. Ask one of them, who signs in.',
    );
  }
  if (approvals.verifiedPrincipal && identity?.principalVerified !== true) {
    return forbidden(
      'unverified_principal',
      'The policy lets nobody approve this action, because no token verifies its principal. Deny it, and let the agent send a token that names the person.',
    );
  }
  if (!notRequester) return undefined;
  if (requestedBy !== null && isSameApprover({ key: requestedBy, principal }, approver)) {
    return forbidden('requester', 'The requester of an action cannot approve it. Ask another approver.');
  }
  // Otherwise the requester could approve with a second key.
  if (principal !== null && approver.principal === null) {
    return forbidden(
      'unknown_approver',
      'The policy does not let the requester approve, and the server does not know who uses this key. Approve through the proxy that names the person.',
    );
  }
  return undefined;
}

/** Returns the refusal of a grant for later actions; undefined if it is permitted, or not chosen. */
function grantRefusal(
  { sessionId, singleUse }: DecidableAction,
  decision: Decide['decision'],
  grant: Decide['grant'],
  changes: Changes | null,
): Refusal | undefined {
  if (grant === undefined) return undefined;
  if (decision === 'deny') return invalidRequest('grant', 'contradiction', 'is allowed only with approve');
  if (sessionId === null) {
    return invalidRequest('grant', 'no_session', 'needs an action with a session; this action has none');
  }
  if (singleUse) {
    return invalidRequest(
      'grant',
      'single_use',
      'contradicts the policy, which requires an approval for each call (singleUse); leave it out',
    );
  }
  if (grant.for === 'tool' && changes !== null) {
    return invalidRequest(
      'grant',
      'contradiction',
      'for any call of the tool contradicts changedArguments; choose action, for the changed arguments',
    );
  }
  return undefined;
}

function forbidden(code: string, message: string): Refusal {
  return { code: 'PERMISSION_DENIED', message, details: [{ path: 'decision', code, message }] };
}

/** State of a held action that a decision depends on: an overdue action is `expired`. */
export type DecidableAction = Pick<
  SentOf<'guardian.pendingActions.decide'>,
  | 'status'
  | 'expiresAt'
  | 'decision'
  | 'sessionId'
  | 'singleUse'
  | 'requestedBy'
  | 'principal'
  | 'approvals'
  | 'action'
  | 'editable'
  | 'changedArguments'
  | 'identity'
>;

/** Time for which a grant is valid unless the approver chooses another one, in seconds. */
const defaultGrantSeconds = 3600;

/** Maximum number of valid grants of one session. */
export const maxSessionGrants = 20;

/** Maximum number of valid grants of one tenant. */
export const maxTenantGrants = 1000;

/** Terms of a grant for later actions. */
export interface GrantTerms {
  /** `action` for the same action, `tool` for any call of the same tool that the same policies hold. */
  readonly for: 'action' | 'tool';
  readonly durationMs: number;
  /** Number of actions that it lets run; null if not limited. */
  readonly maxUses: number | null;
}

/** Returns the narrowest terms that all approvers chose; undefined if one of them approved only this action. */
function grantTerms(given: readonly GivenApproval[]): GrantTerms | undefined {
  const choices = given.flatMap(({ grant }) => (grant ? [grant] : []));
  if (choices.length === 0 || choices.length < given.length) return undefined;
  const maxUses = Math.min(...choices.map((choice) => choice.maxUses ?? Number.POSITIVE_INFINITY));
  const seconds = Math.min(...choices.map((choice) => choice.durationSeconds ?? defaultGrantSeconds));
  return {
    for: choices.some((choice) => choice.for === 'action') ? 'action' : 'tool',
    durationMs: seconds * 1000,
    maxUses: Number.isFinite(maxUses) ? maxUses : null,
  };
}
