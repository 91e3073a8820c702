import type { CheckResult } from '@actlog/protocol';

/** An answer of `POST /v1/policies/check`, as far as the guard understands it. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly policyId: string | undefined;
  /** Who denied it; undefined for another decision. */
  readonly deniedBy: 'policy' | 'person' | undefined;
  /** The policy's own words, or those of the person who denied it. */
  readonly reason: string | undefined;
  readonly pendingActionId: string | undefined;
}

/**
 * Reads an answer. The specification leaves its fields open, so nothing about it is taken for granted; an answer
 * whose decision cannot be understood is no answer.
 */
export function parseDecision(answer: unknown): Decision | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { decision, decidedBy, matched, pendingActionId, comment } = answer as CheckResult;
  if (decision !== 'allow' && decision !== 'deny' && decision !== 'require_approval') return undefined;
  const policies = Array.isArray(matched)
    ? matched.filter((match) => typeof match === 'object' && match)
    : [];
  const named = policies.find(({ policyId }) => policyId === decidedBy);
  const enforced = (wanted: string) =>
    policies.find(({ effect, mode }) => effect === wanted && mode !== 'log_only');
  const common = { decision, pendingActionId: textOf(pendingActionId) };
  // An action that was held, and denied by what is no policy that applied to it.
  if (decision === 'deny' && common.pendingActionId && textOf(decidedBy) && !named) {
    const policyId = textOf(enforced('require_approval')?.policyId);
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
