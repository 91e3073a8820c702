import { listDecisions, type PolicyDecision } from '@actlog/client/server';
import { type Command, Option } from 'commander';
import { agentText } from '../agents/agent-columns.ts';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseTime } from '../options/duration.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { localTime } from '../output/local-time.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';
import { deciderText, effectStyle } from './policy-columns.ts';

interface Flags extends ClientFlags, LimitFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly decision?: PolicyDecision['decision'];
  readonly dryRun?: boolean;
  readonly held?: boolean;
  readonly since?: Date;
  readonly until?: Date;
}

const columns: readonly Column<PolicyDecision>[] = [
  { title: 'TIME', value: ({ decidedAt }) => localTime(decidedAt) },
  { title: 'DECISION', value: ({ decision }) => decision, style: ({ decision }) => effectStyle(decision) },
  { title: 'TOOL', value: ({ toolName }) => toolName, style: () => 'bold', minWidth: 12 },
  { title: 'AGENT', value: agentText, minWidth: 12 },
  { title: 'SESSION', value: ({ sessionId }) => sessionId, minWidth: 12 },
  { title: 'DECIDED BY', value: deciderText },
  { title: 'HELD', value: ({ heldStatus }) => heldStatus ?? undefined },
  { title: 'DRY RUN', value: ({ dryRun }) => (dryRun ? 'yes' : undefined) },
];

/** Adds `policies decisions`. */
export function addPoliciesDecisions(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'decisions',
    description: 'list what the policies decided, newest first; allowed actions too',
    examples: [
      ['actlog policies decisions --since 24h --decision deny', 'what was denied since yesterday'],
      ['actlog policies decisions --limit all --jsonl > decisions.jsonl', 'export all of them'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--since <time>', 'only decisions from then on: 24h, 7d, or an ISO 8601 time', parseTime)
    .option('--until <time>', 'only decisions before then', parseTime)
    .option('--agent <id>', 'only decisions about this agent')
    .option('--session <id>', 'only decisions about this session')
    .option('--tool <name>', 'only decisions about this tool')
    .addOption(
      new Option('--decision <decision>', 'only these decisions').choices([
        'allow',
        'deny',
        'require_approval',
      ]),
    )
    .option('--held', 'only calls that are or were held for an approver')
    .option('--no-held', 'no held calls')
    .option('--dry-run', 'only dry runs, such as those of a guard that observes')
    .option('--no-dry-run', 'no dry runs');
  addLimitOption(command, 'decisions').action(async (flags: Flags) => {
    const client = await connect(flags);
    const {
      agent: agentId,
      session: sessionId,
      tool: toolName,
      decision,
      dryRun,
      held,
      since,
      until,
    } = flags;
    const filters = { agentId, sessionId, toolName, decision, dryRun, held, since, until };
    const decisions = listDecisions(client, { ...filters, limit: pageSizeFor(flags.limit) });
    await printList(decisions, { columns, flags, noun: 'decisions' });
  });
}
