import type { SentOf } from '@actlog/protocol';

/** What a policy says, without what is known of it since it was written. */
type Definition = Omit<
  SentOf<'policies.get'>,
  'id' | 'status' | 'createdAt' | 'updatedAt' | 'archivedAt' | 'version'
>;

/**
 * What denies every action of an agent that is revoked: it stands first in a check's answer, like a policy that
 * somebody had written, so that whoever handles denials by policies handles this one.
 */
export const revokedAgent = {
  /** Stands in the place of a policy's id; no policy has it. */
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
  /** Why it applies. */
  why: 'the agent is revoked',
} as const satisfies { id: string; definition: Definition; why: string };
