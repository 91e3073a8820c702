import type { Risk, RiskDimension, SessionDetail, StoredEvent } from '@actlog/client';
import { wholeScore } from '@actlog/protocol';
import { addSessionDelete } from '@actlog/server/command';
import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { CanceledError } from '../errors/usage-error.ts';
import { addLimitOption, type LimitFlags, pageSizeFor, parseCount } from '../options/numbers.ts';
import { formatOf, jsonText } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { ProgressLine, print } from '../output/print.ts';
import { printList, printTable } from '../output/print-list.ts';
import { type Detail, printDetails, printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { riskStyle, riskText, styled } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { addServerExamples } from '../server/load-server-command.ts';
import { confirm, Interruption } from '../terminal/confirm.ts';
import {
  addSessionFilterOptions,
  eventColumns,
  type SessionFilterFlags,
  sessionColumns,
  sessionQuery,
} from './session-columns.ts';
import { addSessionsTail } from './tail.ts';

/** Adds `sessions delete` of the server, which asks a person first. */
function addDelete(sessions: Command): void {
  const command = addSessionDelete(sessions).hook('preAction', async ({ args }) => {
    const { yes } = command.opts<{ readonly yes?: true }>();
    if (await confirm(`delete the session "${printable(args[0] ?? '')}" permanently`, yes)) return;
    throw new CanceledError();
  });
  addServerExamples(command, 'sessions delete');
}

/** Creates the command `sessions`: reads sessions over HTTP, and deletes them in the database. */
export function sessionsCommand(): Command {
  const sessions = new Command('sessions').description(
    'Reads the sessions of agents over HTTP. An operator of the server deletes them in its database.',
  );
  sessions.commandsGroup('Over HTTP, with an API key:');
  addSessionsList(sessions);
  addSessionsShow(sessions);
  addSessionsTail(sessions);
  addSessionsExport(sessions);
  addSessionsRisk(sessions);
  sessions.commandsGroup('In the database of the server:');
  addDelete(sessions);
  return sessions;
}

interface Flags extends ClientFlags, LimitFlags, SessionFilterFlags {
  readonly agent?: string;
  readonly agentContains?: string;
  readonly order: 'time' | 'risk';
}

/** Adds `sessions list`. */
function addSessionsList(parent: Command): void {
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

/** Adds `sessions show`. */
function addSessionsShow(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'show <id>',
    description: 'show a session with its events, oldest first; --jsonl prints one event on each line',
    examples: [
      'actlog sessions show order-4711',
      ['actlog sessions show order-4711 --limit all --jsonl', 'every event, for a script'],
    ],
  });
  addLimitOption(command, 'events').action(async (id: string, flags: ClientFlags & LimitFlags) => {
    const client = await connect(flags);
    const events = client.sessions.events(id, { limit: pageSizeFor(flags.limit) });
    const format = formatOf(flags);
    if (format === 'jsonl') return printList(events, { columns: eventColumns, flags, noun: 'events' });
    const session = await client.sessions.get(id, { limit: 1 });
    if (format === 'json') return print(jsonText(await withEvents(session, events, flags.limit), 2));
    await printDetails(detailsOf(session));
    await print('');
    await printList(events, { columns: eventColumns, flags, noun: 'events' });
  });
}

async function withEvents(
  { nextCursor: _cursor, events: _events, ...session }: SessionDetail,
  events: { toArray(options: { limit?: number }): Promise<StoredEvent[]> },
  limit: number,
): Promise<object> {
  return { ...session, events: await events.toArray(Number.isFinite(limit) ? { limit } : {}) };
}

function detailsOf(session: SessionDetail): Detail[] {
  return [
    ['session', session.id, 'bold'],
    ['agent', session.agentIds?.join(', ') ?? session.agentId],
    ['started', localTime(session.startedAt)],
    ['last event', localTime(session.lastEventAt)],
    ['events', session.eventCount],
    ['errors', session.errorCount, session.errorCount ? 'red' : undefined],
    ['risk', riskText(session.risk), riskStyle(session.risk?.level)],
    ['tools', session.toolNames?.join(', ')],
  ];
}

const columns: readonly Column<RiskDimension>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'DIMENSION', value: ({ name }) => name, minWidth: 20 },
  { title: 'SCORE', value: ({ score }) => wholeScore(score), align: 'right' },
  { title: 'LEVEL', value: ({ level }) => level, style: ({ level }) => riskStyle(level) },
  { title: 'VISIBLE', value: ({ observable }) => (observable ? 'yes' : 'no'), style: () => 'dim' },
];

/** Adds `sessions risk`. */
function addSessionsRisk(parent: Command): void {
  clientCommand(parent, {
    usage: 'risk <id>',
    description: 'show the risk of a session in ten dimensions, with the reasons',
    examples: [
      'actlog sessions risk order-4711',
      ["actlog sessions risk order-4711 --json | jq '.score'", 'the score alone'],
    ],
  }).action(async (id: string, flags: ClientFlags) => {
    const client = await connect(flags);
    const risk = await client.sessions.risk(id);
    const format = formatOf(flags);
    if (format !== 'table') return print(jsonText(risk, format === 'json' ? 2 : undefined));
    await printRisk(risk);
  });
}

async function printRisk(risk: Risk): Promise<void> {
  await printDetails([
    ['session', risk.sessionId, 'bold'],
    ['risk', riskText(risk), riskStyle(risk.level)],
    ['events', risk.eventCount],
    ['engine', risk.engineVersion],
  ]);
  const { dimensions = [], factors = [], recommendations = [] } = risk;
  if (dimensions.length > 0) {
    await print('');
    await printTable(dimensions, columns);
  }
  if (factors.length > 0) await print(`\n${styled('bold', 'Reasons')}`);
  for (const { title, explanation, ruleId, delta } of factors) {
    await print(`  ${printable(title)} ${styled('dim', `(${printable(ruleId)}, +${delta.toFixed(1)})`)}`);
    await print(`    ${printable(explanation)}`);
  }
  if (recommendations.length > 0) await print(`\n${styled('bold', 'Recommendations')}`);
  for (const { title, text } of recommendations) await print(`  ${printable(title)}: ${printable(text)}`);
}

interface ExportFlags extends ClientFlags, SessionFilterFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly concurrency: number;
}

/** Adds `sessions export`. */
function addSessionsExport(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'export <file>',
    description:
      'export sessions with their events and risk to a file of JSON Lines, each verified; run it again to continue an interrupted export',
    examples: [
      ['actlog sessions export sessions.jsonl --since 7d', 'one session on each line'],
      ['actlog sessions export order.json --session order-4711', 'one session as one document'],
    ],
  });
  addSessionFilterOptions(command)
    .option('--agent <id>', 'only sessions in which this agent acted')
    .option('--session <id>', 'export this session alone')
    .option('--concurrency <number>', 'sessions to download at the same time', parseCount, 4)
    .action(async (file: string, flags: ExportFlags) => {
      const interruption = new Interruption();
      const progress = new ProgressLine();
      try {
        const run = flags.session === undefined ? exportMany : exportOne;
        await run(file, flags, { progress, signal: interruption.signal });
      } catch (error) {
        progress.clear();
        const isPartial = flags.session === undefined;
        interruption.check(isPartial ? 'Interrupted: run the same command again to continue.' : undefined);
        throw error;
      } finally {
        progress.clear();
        interruption.close();
      }
    });
}

interface Run {
  readonly progress: ProgressLine;
  readonly signal: AbortSignal;
}

async function exportMany(file: string, flags: ExportFlags, { progress, signal }: Run): Promise<void> {
  const client = await connect(flags);
  const { exportSessions } = await import('@actlog/client/scripts');
  const { agent: agentId, concurrency } = flags;
  const exported = await exportSessions(client, file, {
    query: { ...sessionQuery(flags), ...(agentId !== undefined && { agentId }) },
    concurrency,
    signal,
    onProgress: ({ sessionId, sessions, bytes }) =>
      progress.show(`${sessions} sessions, ${byteText(bytes)}  ${printable(sessionId)}`),
  });
  progress.clear();
  await printRecord(
    exported,
    [
      ['file', exported.path, 'bold'],
      ['sessions', exported.sessions],
      ['resumed', exported.resumed || undefined],
      ['deleted meanwhile', exported.missing || undefined],
      ['size', byteText(exported.bytes)],
    ],
    flags,
  );
}

async function exportOne(file: string, flags: ExportFlags, { progress, signal }: Run): Promise<void> {
  const client = await connect(flags);
  const exported = await client.sessions.exportToFile(String(flags.session), file, {
    signal,
    onProgress: ({ bytes, events }) => progress.show(`${events} events, ${byteText(bytes)}`),
  });
  progress.clear();
  await printRecord(
    exported,
    [
      ['file', exported.path, 'bold'],
      ['events', exported.eventCount],
      ['size', byteText(exported.bytes)],
      ['verified', exported.verified ? 'yes' : 'no, the service sent no hash'],
      ['sha256', exported.contentSha256],
    ],
    flags,
  );
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Returns a number of bytes for people, such as `1.4 MB`. */
function byteText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < units.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
