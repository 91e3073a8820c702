import type { BodyName } from '../contract-options.ts';

/** Bodies of the reference profile. They affect only agents of the run. */
export const defaultBodies: Readonly<Partial<Record<BodyName, unknown>>> = {
  'agents.create': { name: '{name}', description: 'Created by the conformance suite; safe to delete.' },
  'agents.update': { description: '{name}' },
  'policies.create': { name: '{name}', effect: 'allow', mode: 'log_only', match: { agents: ['{prefix}-*'] } },
  'policies.update': { description: '{name}' },
  'policies.check': {
    agentId: '{agentId}',
    sessionId: '{sessionId}',
    action: { toolName: '{prefix}-tool', argumentsHash: 'sha256:{name}' },
  },
  'policies.hold': {
    name: '{name}',
    effect: 'require_approval',
    match: { agents: ['{agentId}'] },
    approval: { timeoutSeconds: 600, onTimeout: 'deny' },
  },
  'guardian.pendingActions.decide': { decision: 'deny', comment: '{name}' },
  // An unreachable name (RFC 2606) and the rarest event, because a webhook cannot be deleted.
  'notificationChannels.create': {
    url: 'https://{prefix}.invalid/{name}',
    events: ['guardian.action_decided'],
  },
};
