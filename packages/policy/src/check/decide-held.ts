import type { Decide, GivenApproval } from '@actlog/protocol';
import type { Refusal } from '../requests/refusal.ts';
import { approvalRefusal, grantRefusal } from './approval-refusal.ts';
import { type Approver, isSameApprover } from './approver.ts';
import type { DecidableAction } from './decidable-action.ts';
import { type GrantTerms, grantTerms } from './grant-terms.ts';
import { lateDecisionRefusal } from './held-action.ts';

/** Outcome of an approver's decision. */
export type HeldDecision =
  /** The decision was made before. */
  | { readonly type: 'unchanged' }
  /** It cannot be made. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** The approval counts, and further ones are needed. */
  | { readonly type: 'counted'; readonly given: readonly GivenApproval[] }
  /** The action ends. */
  | {
      readonly type: 'ended';
      readonly status: 'approved' | 'denied';
      readonly given: readonly GivenApproval[];
      /** Grant for later actions; undefined for none. */
      readonly grant: GrantTerms | undefined;
    };

/**
 * Decides a held action. One denial denies it. An approval counts once for each approver, and the last one that is
 * needed completes it. Apply the outcome before another decision reads the action.
 */
export function decideHeld(
  held: DecidableAction,
  { decision, comment, grant }: Pick<Decide, 'decision' | 'comment' | 'grant'>,
  approver: Approver,
  nowMs: number,
): HeldDecision {
  const wanted = decision === 'approve' ? 'approved' : 'denied';
  if (held.status === wanted) return { type: 'unchanged' };
  if (held.status !== 'pending') return { type: 'refused', refusal: lateDecisionRefusal(held) };
  const { given, required } = held.approvals;
  const refusal = decision === 'deny' ? grantRefusal(held, decision, grant) : approvalRefusal(held, approver);
  if (refusal) return { type: 'refused', refusal };
  if (decision === 'deny') return { type: 'ended', status: 'denied', given, grant: undefined };
  if (given.some(({ approvedBy: key, principal }) => isSameApprover({ key, principal }, approver))) {
    return { type: 'unchanged' };
  }
  const problem = grantRefusal(held, decision, grant);
  if (problem) return { type: 'refused', refusal: problem };
  const approval: GivenApproval = {
    approvedBy: approver.key,
    principal: approver.principal,
    comment: comment ?? null,
    approvedAt: new Date(nowMs).toISOString(),
    grant: grant ? { ...grant } : null,
  };
  const all = [...given, approval];
  return all.length < required
    ? { type: 'counted', given: all }
    : { type: 'ended', status: 'approved', given: all, grant: grantTerms(all) };
}
