import { getOverview, type NamedActivity, type Overview, type RiskySession } from '@actlog/client/server';
import { Command, Option } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { parseTime } from '../options/duration.ts';
import { addFormatOptions, type FormatFlags, formatOf } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { print } from '../output/print.ts';
import { printTable } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import { riskStyle, riskText, styled } from '../output/style.ts';
import type { Column } from '../output/table.ts';

interface Flags extends ConnectionFlags, FormatFlags {
  readonly since?: Date;
  readonly until?: Date;
  readonly interval?: Overview['interval'];
  readonly handled?: true;
}

const sessionColumns: readonly Column<RiskySession>[] = [
  { title: 'SESSION', value: ({ id }) => id, style: () => 'bold', minWidth: 12 },
  { title: 'RISK', value: ({ risk }) => riskText(risk), style: ({ risk }) => riskStyle(risk.level) },
  { title: 'AGENT', value: ({ agentId }) => agentId, minWidth: 12 },
  { title: 'EVENTS', value: ({ eventCount }) => eventCount, align: 'right' },
  { title: 'ERRORS', value: ({ errorCount }) => errorCount, align: 'right' },
  { title: 'STARTED', value: ({ startedAt }) => localTime(startedAt) },
];

function namedColumns(title: string): readonly Column<NamedActivity>[] {
  return [
    { title, value: ({ name }) => name, style: () => 'bold', minWidth: 12 },
    { title: 'CALLS', value: ({ calls }) => calls, align: 'right' },
    { title: 'ERRORS', value: ({ errors }) => errors, align: 'right' },
    { title: 'DENIALS', value: ({ denials }) => denials, align: 'right' },
  ];
}

/** Creates the command `overview`. */
export function overviewCommand(): Command {
  const command = new Command('overview')
    .description('Shows what happened in a span of time, and what needs attention.')
    .option('--since <time>', 'start of the span: 24h (default), 7d, or an ISO 8601 time', parseTime)
    .option('--until <time>', 'end of the span; now by default', parseTime)
    .addOption(
      new Option('--interval <length>', 'length of a bucket of the series, which --json shows').choices([
        '5m',
        'hour',
        'day',
      ]),
    );
  command.addOption(new Option('--handled', 'also list handled sessions among the riskiest'));
  addFormatOptions(command);
  addConnectionOptions(command);
  addExamples(command, [
    ['actlog overview --since 7d', 'the last week'],
    ['actlog overview --since 30d --interval day --json', 'a month by day, for a script'],
  ]);
  return command.action(async (flags: Flags) => {
    const client = await connect(flags);
    const { since, until, interval, handled } = flags;
    await printOverview(await getOverview(client, { since, until, interval, handled }), flags);
  });
}

async function printOverview(overview: Overview, flags: Flags): Promise<void> {
  const { totals, riskiestSessions, agents, tools, waitingActions, webhooks } = overview;
  const failing = webhooks.filter(({ status, failingSince }) => status === 'disabled' || failingSince);
  const levels = Object.entries(totals.sessionsByLevel).filter(([, count]) => count > 0);
  const risk = levels.map(([level, count]) => `${count} ${level}`).join(', ');
  await printRecord(
    overview,
    [
      ['calls', totals.calls, 'bold'],
      ['errors', totals.errors, totals.errors > 0 ? 'red' : undefined],
      ['denials', totals.denials, totals.denials > 0 ? 'yellow' : undefined],
      ['sessions', `${totals.sessions}${risk && ` (${risk})`}`],
      [
        'decisions',
        `${totals.decisions.allow} allowed, ${totals.decisions.require_approval} waiting, ${totals.decisions.deny} denied`,
      ],
      ['held actions', `${totals.heldActions}, ${waitingActions} waiting now`],
      ['webhooks', `${webhooks.length}, ${failing.length} failing or disabled`],
    ],
    flags,
  );
  if (formatOf(flags) !== 'table') return;
  await printTitled('Riskiest sessions', riskiestSessions, sessionColumns);
  await printTitled('Agents that stand out', agents, namedColumns('AGENT'));
  await printTitled('Tools that stand out', tools, namedColumns('TOOL'));
}

/** Prints a table under its title, unless it has no rows. */
async function printTitled<Row>(
  title: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<void> {
  if (rows.length === 0) return;
  await print(`\n${styled('bold', title)}`);
  await printTable(rows, columns);
}
