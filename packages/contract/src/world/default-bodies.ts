import type { BodyName } from '../contract-options.ts';

/** The bodies of the reference profile. None of them touches an agent that is not the run's own. */
export const defaultBodies: Readonly<Partial<Record<BodyName, unknown>>> = {
  'agents.create': { name: '{name}', description: 'Made by actlog-contract; nobody needs it.' },
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
  // A name that can never be reached (RFC 2606), and the rarest of events: a webhook cannot be taken away again.
  'notificationChannels.create': {
    url: 'https://{prefix}.invalid/{name}',
    events: ['guardian.action_decided'],
  },
};
