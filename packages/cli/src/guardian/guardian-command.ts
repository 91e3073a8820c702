import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { printList } from '../output/print-list.ts';
import { actionColumns } from './action-columns.ts';
import { addGuardianDecisions } from './decide.ts';
import { addGuardianGrants } from './grants.ts';
import { addGuardianWatch } from './watch.ts';

/** Creates the command `guardian`. */
export function guardianCommand(): Command {
  const guardian = new Command('guardian').description(
    'Lists, watches and decides held actions, and revokes grants for later ones. Needs a key with the scope decide, such as the admin key that `actlog serve` prints.',
  );
  addGuardianList(guardian);
  addGuardianWatch(guardian);
  addGuardianDecisions(guardian);
  addGuardianGrants(guardian);
  return guardian;
}

const statuses = ['pending', 'approved', 'denied', 'expired'] as const;

interface Flags extends ClientFlags, LimitFlags {
  readonly status: (typeof statuses)[number];
  readonly agent?: string;
  readonly session?: string;
}

/** Adds `guardian list`. */
function addGuardianList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list held actions, newest first',
    examples: [
      'actlog guardian list',
      ['actlog guardian list --status denied --agent billing', 'past decisions'],
    ],
  })
    .optionsGroup('Filters:')
    .addOption(
      new Option('--status <status>', 'only actions with this status').choices(statuses).default('pending'),
    )
    .option('--agent <id>', 'only actions of this agent')
    .option('--session <id>', 'only actions of this session');
  addLimitOption(command, 'actions').action(async (flags: Flags) => {
    const client = await connect(flags);
    const { status, agent: agentId, session: sessionId, limit } = flags;
    const query = { status, agentId, sessionId, limit: pageSizeFor(limit) };
    await printList(client.guardian.pendingActions.list(query), {
      columns: actionColumns,
      flags,
      noun: `${status} actions`,
    });
  });
}
