import type { ArgumentChanges, CheckResult } from '@actlog/protocol';

/** Decision from a response of `POST /v1/policies/check`, as understood by the guard. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly policyId: string | undefined;
  /** Name of that policy, if the service sends it. */
  readonly policyName: string | undefined;
  /** `true` if the action was denied because nobody decided in time. */
  readonly isTimedOut: boolean;
  /** Source of a denial; undefined for other decisions and for timeouts. */
  readonly deniedBy: 'policy' | 'person' | undefined;
  /** Message of the policy, or comment of the person who denied the action. */
  readonly reason: string | undefined;
  readonly pendingActionId: string | undefined;
  /** Arguments that a person changed; the denial is then of the requested ones. Undefined for none. */
  readonly changedArguments?: ArgumentChanges | undefined;
}

/** Policy that held an action. */
export type HoldingPolicy = Pick<Decision, 'policyId' | 'policyName'>;

/**
 * Parses a response. The specification does not fix its fields, so each is validated. Without a valid decision there is
 * no result.
 *
 * @param held - policy that held the action, from an earlier response; it may be archived by now
 */
export function parseDecision(response: unknown, held?: HoldingPolicy): Decision | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const { decision, decidedBy, matched, pendingActionId, comment, changedArguments } =
    response as CheckResult;
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
    // The action was held. If a policy that does not itself deny is named, the hold has expired; otherwise a person
    // decided.
    if (named || decidedBy === held?.policyId) {
      const reason = textOf(named?.message);
      return { ...common, isTimedOut: true, ...policyIn(named ?? held), deniedBy: undefined, reason };
    }
    const policy = policyIn(enforced('require_approval') ?? held);
    const changes = isRecord(changedArguments) ? { changedArguments } : {};
    return { ...common, ...policy, deniedBy: 'person', reason: textOf(comment), ...changes };
  }
  const behind = named ?? enforced(decision);
  return {
    ...common,
    policyId: textOf(behind?.policyId) ?? textOf(decidedBy),
    policyName: textOf(behind?.policyName),
    deniedBy: decision === 'deny' ? 'policy' : undefined,
    reason: textOf(behind?.message),
  };
}

function policyIn(value: Partial<Readonly<Record<keyof HoldingPolicy, unknown>>> | undefined): HoldingPolicy {
  return { policyId: textOf(value?.policyId), policyName: textOf(value?.policyName) };
}

function isRecord(value: unknown): value is ArgumentChanges {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
