import type { PolicyEffect } from '@actlog/protocol';

/** Fields of a policy that determine its precedence and effect. */
export interface PolicyWeight {
  readonly effect: PolicyEffect;
  /** Order within one effect, highest first. */
  readonly priority: number;
  /** `log_only` policies are reported but do not affect the decision. */
  readonly mode: 'enforce' | 'log_only';
  /**
   * Outcome of an approval that nobody decides, and whether it is for one call; by default `deny` and
   * `false`.
   */
  readonly approval?:
    | { readonly onTimeout: 'deny' | 'allow'; readonly singleUse?: boolean | undefined }
    | null
    | undefined;
}

const effectOrder: Readonly<Record<PolicyEffect, number>> = { deny: 0, require_approval: 1, allow: 2 };

/**
 * Sorts policies by precedence: deny before require_approval before allow, then by highest priority. At the same
 * priority, policies with `onTimeout: 'allow'` come last, so that they cannot bypass stricter ones.
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
