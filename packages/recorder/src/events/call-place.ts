import { limits } from '@actlog/protocol';
import { toIdentifier, toResourceId } from '@actlog/tool-call';

/** Subagent that makes a call, and the agents around its agent. */
export interface CallPlace {
  /** Name of the agent's subagent; undefined for none. */
  readonly subagent?: string | undefined;
  /** Agents that the agent runs inside, nearest first. */
  readonly parentAgentIds?: readonly string[] | undefined;
}

/** Returns a place with names that a service accepts; undefined for a call of an agent that runs inside no other. */
export function sendablePlace({ subagent, parentAgentIds = [] }: CallPlace) {
  const name = subagent === undefined ? '' : toIdentifier(subagent, '');
  const all = parentAgentIds.map((id) => toResourceId(id, 'agent'));
  // The outermost agent is the one that people know.
  const parents =
    all.length <= limits.maxParentAgents
      ? all
      : [...all.slice(0, limits.maxParentAgents - 1), ...all.slice(-1)];
  if (name === '' && parents.length === 0) return undefined;
  return { ...(name !== '' && { subagent: name }), ...(parents.length > 0 && { parentAgentIds: parents }) };
}
