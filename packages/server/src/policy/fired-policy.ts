import { revokedAgent, type Verdict, verdictOf } from '@actlog/policy';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';

/** A policy that applies to an action, with the reason. */
export interface FiredPolicy {
  readonly policy: CompiledPolicy;
  readonly why: string;
}

/** The built-in policy that denies actions of a revoked agent. */
export const agentRevoked: FiredPolicy = {
  policy: compilePolicy({
    id: revokedAgent.id,
    definition: revokedAgent.definition,
    status: 'active',
    created_ms: 0,
    updated_ms: 0,
    archived_ms: null,
    version: 1,
  }),
  why: revokedAgent.why,
};

/** Returns the verdict of the policies, which must be in the order of their policy set. */
export function verdictOn(fired: readonly FiredPolicy[]): Verdict<FiredPolicy> {
  return verdictOf(fired, ({ policy }) => policy.definition);
}

/** Returns the policies that apply for as long as an action is held; rates apply only when the action is counted. */
export function lasting(candidates: readonly FiredPolicy[]): FiredPolicy[] {
  return candidates.filter(({ policy }) => policy.definition.rate === null);
}
