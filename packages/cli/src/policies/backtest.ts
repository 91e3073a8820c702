import { type BacktestChange, type BacktestResult, backtestPolicies } from '@actlog/client/server';
import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseTime } from '../options/duration.ts';
import { formatOf } from '../output/format.ts';
import { ProgressLine, print } from '../output/print.ts';
import { printRecord } from '../output/print-record.ts';
import { terminalWidth } from '../output/printable.ts';
import { type Column, Table } from '../output/table.ts';
import { effectStyle } from './policy-columns.ts';

interface Flags extends ClientFlags {
  readonly since?: Date;
  readonly until?: Date;
  readonly replace?: true;
  readonly countDryRuns?: true;
  readonly failOnChange?: true;
}

const columns: readonly Column<BacktestChange>[] = [
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
    .action(async (path: string, flags: Flags) => {
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
      await printResult(result, flags);
      if (flags.failOnChange && result.changed > 0) process.exitCode = exitCodes.failed;
    });
}

async function printResult(result: BacktestResult, flags: Flags): Promise<void> {
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
  const table = new Table(columns, terminalWidth());
  table.fit(changes);
  await print(`\n${table.header()}`);
  for (const change of changes) await print(table.line(change));
}
