import { type CheckedAction, policyMatch } from '@actlog/policy';
import type { FiredPolicy } from './fired-policy.ts';
import type { PolicySet } from './policy-set.ts';

/**
 * Which policies match one action. A set is asked once: a check is often answered by a write after a read, one that
 * waits looks again and again, and a thousand conditions take milliseconds in which nothing else is done.
 */
export class Matches {
  #found: { readonly set: PolicySet; readonly fired: readonly FiredPolicy[] } | undefined;

  /** What of the set matches, in the order of its say. The action is the same each time. */
  of(set: PolicySet, action: CheckedAction): readonly FiredPolicy[] {
    if (this.#found?.set !== set) {
      const fired = set.policies.flatMap((policy) => {
        const why = policyMatch(policy.rule, action);
        return why === undefined ? [] : [{ policy, why }];
      });
      this.#found = { set, fired };
    }
    return this.#found.fired;
  }
}
