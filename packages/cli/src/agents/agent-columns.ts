import type { Agent } from '@actlog/client';
import { localTime } from '../output/local-time.ts';
import type { Detail } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';

/** Columns of a list of agents. */
export const agentColumns: readonly Column<Agent>[] = [
  { title: 'AGENT', value: ({ id }) => id, style: () => 'bold', minWidth: 16 },
  { title: 'NAME', value: ({ name }) => name },
  {
    title: 'STATUS',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'revoked' ? 'red' : 'green'),
  },
  { title: 'REGISTERED', value: ({ registered }) => (registered ? 'yes' : 'no') },
  { title: 'LAST SEEN', value: ({ lastSeenAt }) => localTime(lastSeenAt), minWidth: 19 },
  { title: 'FRAMEWORK', value: ({ framework }) => framework },
  { title: 'OWNER', value: ({ owner }) => owner },
];

/** Returns the details of an agent. */
export function agentDetails(agent: Agent): Detail[] {
  const { metadata = {} } = agent;
  return [
    ['agent', agent.id, 'bold'],
    ['name', agent.name],
    ['description', agent.description],
    ['status', agent.status, agent.status === 'revoked' ? 'red' : 'green'],
    ['registered', agent.registered === undefined ? undefined : agent.registered ? 'yes' : 'no'],
    ['framework', agent.framework],
    ['version', agent.version],
    ['owner', agent.owner],
    ['metadata', Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined],
    ['created', localTime(agent.createdAt)],
    ['last seen', localTime(agent.lastSeenAt)],
  ];
}

/** Returns the agent of an action with its subagent, and with the agents that it runs inside. */
export function agentText({
  agentId,
  subagent,
  parentAgentIds = [],
}: {
  readonly agentId?: string | undefined;
  readonly subagent?: string | null | undefined;
  readonly parentAgentIds?: readonly string[] | undefined;
}): string | undefined {
  const name = subagent == null ? agentId : `${agentId} · ${subagent}`;
  return parentAgentIds.length === 0 ? name : `${name} (in ${parentAgentIds.join(', ')})`;
}
