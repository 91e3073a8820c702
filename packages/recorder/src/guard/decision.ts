import type { CheckResult } from '@actlog/protocol';

/** An answer of `POST /v1/policies/check`, as far as the guard understands it. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly policyId: string | undefined;
  readonly reason: string | undefined;
  readonly pendingActionId: string | undefined;
}

/**
 * Reads an answer. The specification leaves its fields open, so nothing about it is taken for granted; an answer
 * whose decision cannot be understood is no answer.
 */
export function parseDecision(answer: unknown): Decision | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { decision, decidedBy, matched, pendingActionId } = answer as CheckResult;
  if (decision !== 'allow' && decision !== 'deny' && decision !== 'require_approval') return undefined;
  const policies = Array.isArray(matched)
    ? matched.filter((match) => typeof match === 'object' && match)
    : [];
  const behind =
    policies.find(({ policyId }) => policyId === decidedBy) ??
    policies.find(({ effect, mode }) => effect === decision && mode !== 'log_only');
  return {
    decision,
    policyId: textOf(behind?.policyId) ?? textOf(decidedBy),
    reason: textOf(behind?.message),
    pendingActionId: textOf(pendingActionId),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
