import type { PolicyCreate } from '@actlog/protocol';
import type { PolicyDefinition } from './fired-policy.ts';

/** Returns a policy from the body of its creation, with defaults filled in. */
export function policyDefinition(body: PolicyCreate): PolicyDefinition {
  return {
    name: body.name,
    description: body.description ?? null,
    mode: body.mode ?? 'enforce',
    effect: body.effect,
    priority: body.priority ?? 0,
    match: (body.match ?? {}) as PolicyDefinition['match'],
    condition: body.condition ?? null,
    rate: body.rate ?? null,
    approval: (body.approval ?? null) as PolicyDefinition['approval'],
    schedule: (body.schedule ?? null) as PolicyDefinition['schedule'],
    message: body.message ?? null,
  };
}
