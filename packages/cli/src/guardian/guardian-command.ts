import { type ApprovalGrant, listGrants, revokeGrant } from '@actlog/client/server';
import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { localTime } from '../output/local-time.ts';
import { printList } from '../output/print-list.ts';
import { type Detail, printRecord } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';
import { actionColumns } from './action-columns.ts';
import { addGuardianDecisions } from './decide.ts';
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

const statuses = ['pending', 'approved', 'denied', 'expired', 'withdrawn'] as const;

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

interface GrantFlags extends ClientFlags, LimitFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly all?: true;
}

function usesText({ uses, maxUses }: ApprovalGrant): string {
  return maxUses === null ? String(uses) : `${uses} of ${maxUses}`;
}

function statusStyle({ status }: ApprovalGrant) {
  return status === 'active' ? 'green' : 'dim';
}

const columns: readonly Column<ApprovalGrant>[] = [
  { title: 'GRANT', value: ({ id }) => id, minWidth: 36 },
  { title: 'STATUS', value: ({ status }) => status, style: statusStyle },
  { title: 'TOOL', value: ({ toolName }) => toolName, style: () => 'bold', minWidth: 10 },
  { title: 'FOR', value: (grant) => grant.for },
  { title: 'USED', value: usesText, minWidth: 4 },
  { title: 'ENDS', value: ({ expiresAt }) => localTime(expiresAt), minWidth: 19 },
  { title: 'SESSION', value: ({ sessionId }) => sessionId },
  { title: 'AGENT', value: ({ agentId }) => agentId },
];

function details(grant: ApprovalGrant): Detail[] {
  return [
    ['grant', grant.id, 'bold'],
    ['status', grant.status, statusStyle(grant)],
    ['tool', grant.toolName, 'bold'],
    ['for', grant.for === 'action' ? 'the same action' : 'any call of the tool'],
    ['session', grant.sessionId],
    ['agent', grant.agentId],
    ['principal', grant.principal],
    ['used', usesText(grant)],
    ['granted by', grant.grantedByPrincipal ?? grant.grantedBy],
    ['created', localTime(grant.createdAt)],
    ['ends', localTime(grant.expiresAt)],
    ['revoked', revocationText(grant)],
  ];
}

function revocationText({ revokedAt, revokedBy, revokedByPrincipal }: ApprovalGrant): string | undefined {
  if (revokedAt === null) return undefined;
  return `${localTime(revokedAt)} by ${revokedByPrincipal ?? revokedBy}`;
}

/** Adds `guardian grants` and `guardian revoke`. */
function addGuardianGrants(parent: Command): void {
  const list = clientCommand(parent, {
    usage: 'grants',
    description: 'list the grants of approvers for later actions, newest first',
    examples: [
      'actlog guardian grants',
      ['actlog guardian grants --all --session s-1', 'also those that ended'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only grants for actions of this agent')
    .option('--session <id>', 'only grants for actions of this session')
    .addOption(new Option('--all', 'also grants that have expired or were revoked'));
  addLimitOption(list, 'grants').action(async (flags: GrantFlags) => {
    const client = await connect(flags);
    const filters = {
      agentId: flags.agent,
      sessionId: flags.session,
      valid: flags.all ? undefined : true,
      limit: pageSizeFor(flags.limit),
    };
    await printList(listGrants(client, filters), { columns, flags, noun: 'grants' });
  });
  clientCommand(parent, {
    usage: 'revoke <grant>',
    description: 'end a grant; later actions need an approval again',
    examples: ['actlog guardian revoke grt_0198c1d2e3f47a5b8c6d7e8f90a1b2c3'],
  }).action(async (id: string, flags: ClientFlags) => {
    const grant = await revokeGrant(await connect(flags), id);
    await printRecord(grant, details(grant), flags);
  });
}
