import type { CheckResult, PolicyCheck } from '@actlog/client';
import { type BacktestChange, type BacktestResult, backtestPolicies } from '@actlog/client/server';
import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseTime } from '../options/duration.ts';
import { parseObject } from '../options/read-json.ts';
import { formatOf } from '../output/format.ts';
import { ProgressLine, print } from '../output/print.ts';
import { printTable } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import type { Column } from '../output/table.ts';
import { deciderText, effectStyle, policyText } from './policy-columns.ts';

interface CheckFlags extends ClientFlags {
  readonly agent: string;
  readonly arguments?: Record<string, unknown>;
  readonly session?: string;
  readonly framework?: string;
  readonly environment?: string;
  readonly actionId?: string;
  readonly principal?: string;
  readonly subagent?: string;
  readonly inside?: readonly string[];
  readonly real?: true;
}

type Matched = NonNullable<CheckResult['matched']>[number];

const matchedColumns: readonly Column<Matched>[] = [
  { title: 'POLICY', value: policyText, minWidth: 36 },
  { title: 'EFFECT', value: ({ effect }) => effect, style: ({ effect }) => effectStyle(effect) },
  { title: 'MODE', value: ({ mode }) => mode },
  { title: 'WHY', value: ({ why }) => why },
];

/** Adds `policies check`. */
export function addPoliciesCheck(parent: Command): void {
  clientCommand(parent, {
    usage: 'check <tool>',
    description:
      'show what the policies decide about a tool call, and why; nothing is counted, held or recorded',
    examples: [
      'actlog policies check refund --agent billing --arguments \'{"amount":900}\'',
      ['actlog policies check refund --agent billing --json | jq -r .decision', 'the decision alone'],
    ],
  })
    .optionsGroup('Action:')
    .requiredOption('--agent <id>', 'agent that would act')
    .option('--arguments <json>', 'JSON object with the arguments, which conditions read', parseObject)
    .option('--session <id>', 'session of the action')
    .option('--framework <name>', 'AI framework of the agent')
    .option('--environment <name>', 'environment, such as production')
    .option('--principal <name>', 'person or system on whose behalf the agent acts')
    .option('--subagent <name>', "name of the agent's subagent that acts")
    .option('--inside <id...>', 'agents that the agent runs inside, nearest first')
    .option('--action-id <id>', 'identifies the action across repeated checks')
    .option('--real', 'check as an agent does: the action is counted, and held where a policy says so')
    .action(async (toolName: string, flags: CheckFlags) => {
      const client = await connect(flags);
      const result = await client.policies.check(await checkOf(toolName, flags), { dryRun: !flags.real });
      await printRecord(result, detailsOf(result), flags);
      const { matched = [] } = result;
      if (formatOf(flags) !== 'table' || matched.length === 0) return;
      await print('');
      await printTable(matched, matchedColumns);
    });
}

async function checkOf(toolName: string, flags: CheckFlags): Promise<PolicyCheck> {
  const { hashArguments } = await import('@actlog/recorder');
  const { arguments: shown, agent: agentId, session: sessionId, framework, environment } = flags;
  const { actionId, principal, subagent, inside } = flags;
  const argumentsHash = await hashArguments(shown ?? {});
  return {
    agentId,
    action: { toolName, argumentsHash, ...(shown && { arguments: shown }) },
    ...(sessionId !== undefined && { sessionId }),
    ...(framework !== undefined && { framework }),
    ...(environment !== undefined && { environment }),
    ...(actionId !== undefined && { actionId }),
    ...(principal !== undefined && { principal }),
    ...(subagent !== undefined && { subagent }),
    ...(inside !== undefined && { parentAgentIds: [...inside] }),
  };
}

function detailsOf(result: CheckResult) {
  const { decision, comment, pendingActionId, expiresAt } = result;
  return [
    ['decision', decision, effectStyle(decision)],
    ['decided by', deciderText(result)],
    ['comment', comment],
    ['held as', pendingActionId],
    ['expires', expiresAt],
  ] as const;
}

interface BacktestFlags extends ClientFlags {
  readonly since?: Date;
  readonly until?: Date;
  readonly replace?: true;
  readonly countDryRuns?: true;
  readonly failOnChange?: true;
}

/** Columns of the decisions that a backtest found to be different. */
export const changeColumns: readonly Column<BacktestChange>[] = [
  { title: 'COUNT', value: ({ count }) => count.toLocaleString('en-US') },
  { title: 'TOOL', value: ({ toolName }) => toolName, style: () => 'bold', minWidth: 12 },
  { title: 'AGENT', value: ({ agentId }) => agentId, minWidth: 12 },
  { title: 'WAS', value: ({ from }) => from, style: ({ from }) => effectStyle(from) },
  { title: 'WOULD BE', value: ({ to }) => to, style: ({ to }) => effectStyle(to) },
  { title: 'EXAMPLE', value: ({ examples }) => examples[0] },
];

/** Adds `policies backtest`. */
export function addPoliciesBacktest(parent: Command): void {
  clientCommand(parent, {
    usage: 'backtest <path>',
    description: 'try policies on the decisions of the past, and show what would have been different',
    examples: [
      ['actlog policies backtest refunds.yaml --since 30d', 'a file, or a folder, with policies'],
      ['actlog policies backtest policies --replace', 'these policies instead of the active ones'],
      [
        'actlog policies backtest draft.yaml --fail-on-change --json',
        'for CI: exit code 1 if a decision changes',
      ],
    ],
  })
    .optionsGroup('Backtest:')
    .option('--since <time>', 'decisions from then on: 24h, 7d, or an ISO 8601 time (30d)', parseTime)
    .option('--until <time>', 'decisions before then', parseTime)
    .option('--replace', 'try these policies alone, not together with the active ones')
    .option(
      '--count-dry-runs',
      'count the calls of observing guards in rates and in the history, as if they had been enforced',
    )
    .option('--fail-on-change', `exit with code ${exitCodes.failed} if a decision would be different`)
    .action(async (path: string, flags: BacktestFlags) => {
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { policies: read } = await readPolicyFiles([path]);
      const policies = read.map(({ policy }) => policy);
      const client = await connect(flags);
      const { since, until, countDryRuns } = flags;
      const progress = new ProgressLine();
      const draft = {
        policies,
        mode: flags.replace ? 'replace' : 'merge',
        since,
        until,
        countDryRuns,
      } as const;
      const result = await backtestPolicies(client, draft, {
        onProgress: ({ decisions }) => progress.show(`${decisions.toLocaleString('en-US')} decisions`),
      }).finally(() => progress.clear());
      await printBacktest(result, flags);
      if (flags.failOnChange && result.changed > 0) process.exitCode = exitCodes.failed;
    });
}

async function printBacktest(result: BacktestResult, flags: BacktestFlags): Promise<void> {
  const { decisions, unchanged, changed, cannotTell, changes } = result;
  await printRecord(
    result,
    [
      ['decisions', decisions.toLocaleString('en-US')],
      ['the same', unchanged.toLocaleString('en-US')],
      ['different', changed.toLocaleString('en-US'), changed > 0 ? 'yellow' : undefined],
      ['cannot tell', cannotTell.toLocaleString('en-US')],
    ],
    flags,
  );
  if (formatOf(flags) !== 'table' || changes.length === 0) return;
  await print('');
  await printTable(changes, changeColumns);
}
