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

/**
 * Returns the match that denies the actions of an agent that runs inside a revoked one. It has the id of
 * {@link agentRevoked}.
 *
 * @param agentId - the revoked agent
 */
export function revokedAbove(agentId: string): FiredPolicy {
  const { id, definition } = agentRevoked.policy;
  const message =
    'This agent runs inside an agent that is revoked: it must not act until somebody reinstates that agent.';
  return {
    policy: { id, definition: { ...definition, message } },
    why: `the agent runs inside ${JSON.stringify(agentId)}, which is revoked`,
  };
}

/**
 * Returns the match that denies the actions of an API key that has acted as a revoked agent, whichever agent it names
 * now. It has the id of {@link agentRevoked}.
 *
 * @param agentId - the revoked agent, which the key's holder knows
 */
export function keyStopped(agentId: string): FiredPolicy {
  const { id, definition } = agentRevoked.policy;
  const message =
    'The API key has acted as an agent that is revoked: it must not act until somebody reinstates that agent.';
  return {
    policy: { id, definition: { ...definition, message } },
    why: `the API key has acted as the agent ${JSON.stringify(agentId)}, which is revoked`,
  };
}
