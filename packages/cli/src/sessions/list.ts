import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { printList } from '../output/print-list.ts';
import { sessionColumns } from './session-columns.ts';
import { addSessionFilterOptions, type SessionFilterFlags, sessionQuery } from './session-filter-options.ts';

interface Flags extends ClientFlags, LimitFlags, SessionFilterFlags {
  readonly agent?: string;
}

/** Adds `sessions list`. */
export function addSessionsList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list sessions, newest first',
    examples: [
      ['actlog sessions list --since 24h --min-risk 30', 'the risky sessions of the last day'],
      ['actlog sessions list --agent billing --limit all --jsonl', 'every session of an agent, for a script'],
    ],
  });
  addSessionFilterOptions(command).option('--agent <id>', 'only sessions in which this agent acted');
  addLimitOption(command, 'sessions').action(async (flags: Flags) => {
    const client = await connect(flags);
    const { agent: agentId, limit } = flags;
    const query = {
      ...sessionQuery(flags),
      limit: pageSizeFor(limit),
      ...(agentId !== undefined && { agentId }),
    };
    await printList(client.sessions.list(query), { columns: sessionColumns, flags, noun: 'sessions' });
  });
}
