import type { SentOf } from '@actlog/protocol';

/** Policy fields that its author writes, without those that the service adds. */
type Definition = Omit<
  SentOf<'policies.get'>,
  'id' | 'status' | 'createdAt' | 'updatedAt' | 'archivedAt' | 'version'
>;

/**
 * Built-in policy that denies every action of a revoked agent. It is the first match in a check's response and looks
 * like an ordinary policy, so code that handles denials by policies also handles this one.
 */
export const revokedAgent = {
  /** Id in place of a policy id; no stored policy has it. */
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
    message: 'This agent is revoked: it must not act until somebody reinstates it.',
  },
  /** Reason why it applies. */
  why: 'the agent is revoked',
} as const satisfies { id: string; definition: Definition; why: string };
