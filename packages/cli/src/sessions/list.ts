import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { printList } from '../output/print-list.ts';
import { sessionColumns } from './session-columns.ts';
import { addSessionFilterOptions, type SessionFilterFlags, sessionQuery } from './session-filter-options.ts';

interface Flags extends ClientFlags, LimitFlags, SessionFilterFlags {
  readonly agent?: string;
  readonly agentContains?: string;
  readonly order: 'time' | 'risk';
}

/** Adds `sessions list`. */
export function addSessionsList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list sessions, newest or riskiest first',
    examples: [
      ['actlog sessions list --since 24h --order risk', 'the riskiest sessions of the last day'],
      [
        'actlog sessions list --tool send_email --status denied',
        'sessions that sent mail and were denied an action',
      ],
      ['actlog sessions list --agent billing --limit all --jsonl', 'every session of an agent, for a script'],
    ],
  });
  addSessionFilterOptions(command)
    .option('--agent <id>', 'only sessions in which this agent acted')
    .option('--agent-contains <text>', 'only sessions in which an agent acted whose id contains this text')
    .addOption(
      new Option('--order <order>', 'risk lists the highest scores first, time the newest sessions')
        .choices(['time', 'risk'])
        .default('time'),
    );
  addLimitOption(command, 'sessions').action(async (flags: Flags) => {
    const client = await connect(flags);
    const { agent: agentId, agentContains: agentIdContains, order, limit } = flags;
    const query = {
      ...sessionQuery(flags),
      limit: pageSizeFor(limit),
      ...(agentId !== undefined && { agentId }),
      ...(agentIdContains !== undefined && { agentIdContains }),
      ...(order === 'risk' && { sort: 'riskScore' as const }),
    };
    await printList(client.sessions.list(query), { columns: sessionColumns, flags, noun: 'sessions' });
  });
}
