import type { FiredPolicy } from './fired-policy.ts';

/**
 * Match of the built-in policy that denies every action of a revoked agent. It is the first match in a check's response
 * and looks like one of an ordinary policy, so code that handles denials by policies also handles this one. No stored
 * policy has its id.
 */
export const agentRevoked: FiredPolicy = {
  policy: {
    id: 'agent_revoked',
    definition: {
      name: 'Revoked agents',
      description: null,
      mode: 'enforce',
      effect: 'deny',
      priority: 1000,
      match: {},
      condition: null,
      rate: null,
      approval: null,
      schedule: null,
      message: 'This agent is revoked: it must not act until somebody reinstates it.',
    },
  },
  why: 'the agent is revoked',
};
