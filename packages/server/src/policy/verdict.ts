import type { CompiledPolicy } from './compiled-policy.ts';

/** A policy that applies to an action, and why. */
export interface FiredPolicy {
  readonly policy: CompiledPolicy;
  readonly why: string;
}

/** What the policies say of an action. */
export interface Verdict {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  /** The policy that decided; undefined when none did and the action is allowed for that. */
  readonly decidedBy: FiredPolicy | undefined;
}

/**
 * Deny before require_approval before allow; a policy in `log_only` decides nothing. Expects the policies in that
 * order, as a policy set holds them.
 */
export function verdictOf(fired: readonly FiredPolicy[]): Verdict {
  const decidedBy = fired.find(({ policy }) => policy.definition.mode === 'enforce');
  return { decision: decidedBy?.policy.definition.effect ?? 'allow', decidedBy };
}
