import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { printList } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import { sessionColumns } from '../sessions/session-columns.ts';
import {
  addSessionFilterOptions,
  type SessionFilterFlags,
  sessionQuery,
} from '../sessions/session-filter-options.ts';
import { agentColumns, agentDetails } from './agent-columns.ts';

interface ListFlags extends ClientFlags, LimitFlags {
  readonly status?: 'active' | 'revoked';
  readonly registered?: boolean;
}

/** Adds `agents list`. */
export function addAgentsList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list agents, newest first',
    examples: [
      'actlog agents list',
      ['actlog agents list --no-registered', 'agents that have sent events and were never registered'],
    ],
  })
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'only agents with this status').choices(['active', 'revoked']))
    .option('--registered', 'only registered agents')
    .option('--no-registered', 'only agents known from their events alone');
  addLimitOption(command, 'agents').action(async (flags: ListFlags) => {
    const client = await connect(flags);
    const { status, registered, limit } = flags;
    const list = client.agents.list({ status, registered, limit: pageSizeFor(limit) });
    await printList(list, { columns: agentColumns, flags, noun: 'agents' });
  });
}

/** Adds `agents show`. */
export function addAgentsShow(parent: Command): void {
  clientCommand(parent, {
    usage: 'show <id>',
    description: 'show an agent',
    examples: ['actlog agents show billing'],
  }).action(async (id: string, flags: ClientFlags) => {
    const client = await connect(flags);
    const agent = await client.agents.get(id);
    await printRecord(agent, agentDetails(agent), flags);
  });
}

/** Adds `agents sessions`. */
export function addAgentsSessions(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'sessions <id>',
    description: 'list the sessions of an agent, newest first',
    examples: ['actlog agents sessions billing --since 7d'],
  });
  addSessionFilterOptions(command);
  addLimitOption(command, 'sessions').action(
    async (id: string, flags: ClientFlags & LimitFlags & SessionFilterFlags) => {
      const client = await connect(flags);
      const list = client.agents.sessions(id, { ...sessionQuery(flags), limit: pageSizeFor(flags.limit) });
      await printList(list, { columns: sessionColumns, flags, noun: 'sessions' });
    },
  );
}
