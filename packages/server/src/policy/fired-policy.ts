import { type Verdict, verdictOf } from '@actlog/policy';
import type { CompiledPolicy } from './compiled-policy.ts';

/** A policy that applies to an action, and why. */
export interface FiredPolicy {
  readonly policy: CompiledPolicy;
  readonly why: string;
}

/** What the policies say of an action, in the order in which a policy set holds them. */
export function verdictOn(fired: readonly FiredPolicy[]): Verdict<FiredPolicy> {
  return verdictOf(fired, ({ policy }) => policy.definition);
}

/** What fires for as long as an action waits: a rate was looked at when the action was counted. */
export function lasting(candidates: readonly FiredPolicy[]): FiredPolicy[] {
  return candidates.filter(({ policy }) => policy.definition.rate === null);
}
