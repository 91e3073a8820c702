import { revokedAgent, type Verdict, verdictOf } from '@actlog/policy';
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts';

/** A policy that applies to an action, and why. */
export interface FiredPolicy {
  readonly policy: CompiledPolicy;
  readonly why: string;
}

/** What an action of a revoked agent is denied by. */
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

/** What the policies say of an action, in the order in which a policy set holds them. */
export function verdictOn(fired: readonly FiredPolicy[]): Verdict<FiredPolicy> {
  return verdictOf(fired, ({ policy }) => policy.definition);
}

/** What fires for as long as an action waits: a rate was looked at when the action was counted. */
export function lasting(candidates: readonly FiredPolicy[]): FiredPolicy[] {
  return candidates.filter(({ policy }) => policy.definition.rate === null);
}
