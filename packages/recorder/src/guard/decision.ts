import type { CheckResult } from '@actlog/protocol';

/** An answer of `POST /v1/policies/check`, as far as the guard understands it. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly policyId: string | undefined;
  /** Whether it denies because nobody decided about the held action in time. */
  readonly isTimedOut: boolean;
  /** Who denied it; undefined for another decision, and where nobody did. */
  readonly deniedBy: 'policy' | 'person' | undefined;
  /** The policy's own words, or those of the person who denied it. */
  readonly reason: string | undefined;
  readonly pendingActionId: string | undefined;
}

/**
 * Reads an answer. The specification leaves its fields open, so nothing about it is taken for granted; an answer
 * whose decision cannot be understood is no answer.
 *
 * @param heldBy - the policy that had the action held, as an earlier answer told; it may be archived by now
 */
export function parseDecision(answer: unknown, heldBy?: string): Decision | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { decision, decidedBy, matched, pendingActionId, comment } = answer as CheckResult;
  if (decision !== 'allow' && decision !== 'deny' && decision !== 'require_approval') return undefined;
  const policies = Array.isArray(matched)
    ? matched.filter((match) => typeof match === 'object' && match)
    : [];
  const named = policies.find(({ policyId }) => policyId === decidedBy);
  const enforced = (wanted: string) =>
    policies.find(({ effect, mode }) => effect === wanted && mode !== 'log_only');
  const common = { decision, isTimedOut: false, pendingActionId: textOf(pendingActionId) };
  const isDenying = named?.effect === 'deny' && named.mode !== 'log_only';
  if (decision === 'deny' && common.pendingActionId && textOf(decidedBy) && !isDenying) {
    // An action that was held. A policy that does not deny itself ended its waiting; else it was a person.
    if (named || decidedBy === heldBy) {
      const reason = textOf(named?.message);
      return { ...common, isTimedOut: true, policyId: textOf(decidedBy), deniedBy: undefined, reason };
    }
    const policyId = textOf(enforced('require_approval')?.policyId) ?? heldBy;
    return { ...common, policyId, deniedBy: 'person', reason: textOf(comment) };
  }
  const behind = named ?? enforced(decision);
  return {
    ...common,
    policyId: textOf(behind?.policyId) ?? textOf(decidedBy),
    deniedBy: decision === 'deny' ? 'policy' : undefined,
    reason: textOf(behind?.message),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
