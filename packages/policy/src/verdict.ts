import type { PolicyEffect } from '@actlog/protocol';

/** What of a policy says whether it decides, and what. */
export interface PolicyWeight {
  readonly effect: PolicyEffect;
  /** Order within one effect, highest first. */
  readonly priority: number;
  /** A policy in `log_only` is told of and decides nothing. */
  readonly mode: 'enforce' | 'log_only';
  /** How what it holds ends when nobody decides; `deny` where it does not say. */
  readonly approval?: { readonly onTimeout: 'deny' | 'allow' } | null | undefined;
}

/** What the policies say of an action. */
export interface Verdict<Fired> {
  readonly decision: PolicyEffect;
  /** What decided; undefined when nothing did and the action is allowed for that. */
  readonly decidedBy: Fired | undefined;
}

const effectOrder: Readonly<Record<PolicyEffect, number>> = { deny: 0, require_approval: 1, allow: 2 };

/**
 * Sorts policies by their say: deny before require_approval before allow, and the highest priority first; of the same
 * priority, what lets an action run when nobody decides comes last, so that it is no way past a policy that does not.
 */
export function byPrecedence(left: PolicyWeight, right: PolicyWeight): number {
  return (
    effectOrder[left.effect] - effectOrder[right.effect] ||
    right.priority - left.priority ||
    Number(runsUndecided(left)) - Number(runsUndecided(right))
  );
}

function runsUndecided({ approval }: PolicyWeight): boolean {
  return approval?.onTimeout === 'allow';
}

/**
 * The verdict of the policies that fired: that of the first which is enforced.
 *
 * @param fired - in the order of {@link byPrecedence}
 * @param weightOf - the policy's own fields, of what fired
 */
export function verdictOf<Fired>(
  fired: readonly Fired[],
  weightOf: (one: Fired) => PolicyWeight,
): Verdict<Fired> {
  const decidedBy = fired.find((one) => weightOf(one).mode === 'enforce');
  return { decision: decidedBy === undefined ? 'allow' : weightOf(decidedBy).effect, decidedBy };
}
