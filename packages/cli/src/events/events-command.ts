import type { EventAck, EventInput, StoredEvent } from '@actlog/client';
import { readFeed } from '@actlog/client/server';
import { stringifyExactJson } from '@actlog/protocol';
import { Command, Option } from 'commander';
import { addExamples, type ClientFlags, clientCommand } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { UsageError } from '../errors/usage-error.ts';
import { parseTime } from '../options/duration.ts';
import {
  addLimitOption,
  type LimitFlags,
  pageSizeFor,
  parseCount,
  parseWholeNumber,
} from '../options/numbers.ts';
import { parseObject, readInput } from '../options/read-json.ts';
import { formatOf, jsonText } from '../output/format.ts';
import { note, ProgressLine, print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { printable } from '../output/printable.ts';
import type { Column } from '../output/table.ts';
import { eventColumns } from '../sessions/session-columns.ts';
import { untilInterrupted } from '../terminal/confirm.ts';

/** Creates the command `events`. */
export function eventsCommand(): Command {
  const events = new Command('events').description(
    'Searches the events of all sessions, and records events. Adapters and `@actlog/recorder` record those of programs, without losing any.',
  );
  addEventsSearch(events);
  addEventsSend(events);
  return events;
}

interface SearchFlags extends ClientFlags, LimitFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly category?: string;
  readonly status?: 'ok' | 'error' | 'denied';
  readonly argumentsHash?: string;
  readonly since?: Date;
  readonly until?: Date;
}

const [timeColumn, ...otherColumns] = eventColumns as readonly [
  Column<StoredEvent>,
  ...Column<StoredEvent>[],
];

/** Columns of events of several sessions. */
const foundColumns: readonly Column<StoredEvent>[] = [
  timeColumn,
  { title: 'SESSION', value: ({ sessionId }) => sessionId, minWidth: 12 },
  ...otherColumns,
];

/** Adds `events search`. */
function addEventsSearch(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'search',
    description: 'find events of all sessions, newest first',
    examples: [
      ['actlog events search --status denied --since 24h', 'denied calls of the last day'],
      ['actlog events search --arguments-hash sha256:…', 'every call with the same arguments'],
      ['actlog events search --tool refund --limit all --jsonl > refunds.jsonl', 'export all of them'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only events of this agent')
    .option('--session <id>', 'only events of this session')
    .option('--tool <name>', 'only calls of this tool')
    .addOption(
      new Option('--status <status>', 'only calls that succeeded, failed or were denied').choices([
        'ok',
        'error',
        'denied',
      ]),
    )
    .option('--arguments-hash <hash>', 'only calls with arguments of this hash, such as sha256:…')
    .option('--category <name>', 'only events of this category')
    .option('--since <time>', 'only events from then on: 24h, 7d, or an ISO 8601 time', parseTime)
    .option('--until <time>', 'only events before then', parseTime);
  addLimitOption(command, 'events').action(async (flags: SearchFlags) => {
    const client = await connect(flags);
    const { searchEvents } = await import('@actlog/client/server');
    const { agent: agentId, session: sessionId, tool: toolName, category, status } = flags;
    const { argumentsHash, since, until } = flags;
    const filters = { agentId, sessionId, toolName, category, status, argumentsHash, since, until };
    const found = searchEvents(client, { ...filters, limit: pageSizeFor(flags.limit) });
    await printList(found, { columns: foundColumns, flags, noun: 'events' });
  });
}

interface SendFlags extends ClientFlags, EventFlags {
  readonly file?: string;
  readonly concurrency: number;
}

/** Adds `events send`. */
function addEventsSend(parent: Command): void {
  clientCommand(parent, {
    usage: 'send',
    description: 'record a tool call, another event, or each line of a JSON Lines file',
    examples: [
      ['actlog events send --agent billing --session order-4711 --tool refund --status 200', 'a tool call'],
      'actlog events send --agent billing --session order-4711 --category note --payload \'{"text":"checked"}\'',
      ['actlog events send --file events.jsonl', 'many events; --file - reads standard input'],
    ],
  })
    .optionsGroup('Event:')
    .option('--agent <id>', 'agent that acted')
    .option('--session <id>', 'session of the event')
    .option('--tool <name>', 'tool of a tool call')
    .option('--status <code>', 'status of its response, as in HTTP', parseWholeNumber, 200)
    .option('--arguments <json>', 'JSON object with its arguments; only their hash is sent', parseObject)
    .addOption(
      new Option('--arguments-hash <hash>', 'hash of its arguments, such as sha256:…').conflicts('arguments'),
    )
    .addOption(
      new Option('--category <name>', 'category of an event that is not a tool call').conflicts('tool'),
    )
    .option('--payload <json>', 'JSON object with the data of that event', parseObject)
    .option(
      '--at <time>',
      'time of the event: 5m for five minutes ago, or ISO 8601; now by default',
      parseTime,
    )
    .option('--event-id <uuid>', 'UUID of the event, which makes a repeat safe; a new one by default')
    .optionsGroup('Many events:')
    .option('--file <file>', 'JSON Lines file with one event on each line, or - for standard input')
    .option('--concurrency <number>', 'events of a file to send at the same time', parseCount, 8)
    .action(async (flags: SendFlags) => {
      const events = flags.file === undefined ? [await eventOf(flags)] : await eventsIn(flags.file);
      await send(events, flags);
    });
}

async function send(events: readonly EventInput[], flags: SendFlags): Promise<void> {
  const client = await connect(flags);
  const { mapConcurrent } = await import('@actlog/client/scripts');
  const acknowledgements = mapConcurrent(
    events,
    (event, { signal }) => client.events.create(event, { signal }),
    {
      concurrency: flags.concurrency,
    },
  );
  const progress = new ProgressLine();
  const sent: EventAck[] = [];
  try {
    for await (const acknowledgement of acknowledgements) {
      sent.push(acknowledgement);
      if (formatOf(flags) === 'jsonl') await print(jsonText(acknowledgement));
      else if (events.length > 1) progress.show(`${sent.length} of ${events.length} events`);
    }
  } catch (error) {
    progress.clear();
    if (events.length > 1) note(`${sent.length} of ${events.length} events were recorded before the error.`);
    throw error;
  }
  progress.clear();
  if (formatOf(flags) === 'json') return print(jsonText(flags.file === undefined ? sent[0] : sent, 2));
  if (formatOf(flags) === 'table') await report(sent);
}

async function report(sent: readonly EventAck[]): Promise<void> {
  const warnings = Map.groupBy(
    sent.flatMap((acknowledgement) => acknowledgement.warnings),
    ({ code }) => code,
  );
  for (const [code, [first, ...others]] of warnings) {
    const count = others.length > 0 ? ` (${others.length + 1} events)` : '';
    note(`warning: ${printable(code)}${count}: ${printable(first?.message ?? '')}`);
  }
  const [only] = sent;
  await print(
    sent.length === 1 && only ? `Recorded the event ${only.eventId}.` : `Recorded ${sent.length} events.`,
  );
}

/** @throws UsageError for a line that is not a JSON object. The message names the line and contains nothing of it. */
async function eventsIn(file: string): Promise<EventInput[]> {
  const lines = (await readInput(file)).split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [parseObject(line) as unknown as EventInput];
    } catch {
      throw new UsageError(
        `Line ${index + 1} of ${file === '-' ? 'standard input' : `"${file}"`} must be a JSON object.`,
      );
    }
  });
}

/** Options of one event. */
interface EventFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly status: number;
  readonly arguments?: Record<string, unknown>;
  readonly argumentsHash?: string;
  readonly category?: string;
  readonly payload?: Record<string, unknown>;
  readonly at?: Date;
  readonly eventId?: string;
}

/**
 * Returns the event that the options describe: a tool call with `--tool`, or any category with `--category`.
 *
 * @throws UsageError when an option is missing
 */
async function eventOf(flags: EventFlags): Promise<EventInput> {
  const { agent: agentId, session: sessionId, tool, category, at: sourceTimestamp, eventId } = flags;
  if (agentId === undefined || sessionId === undefined) {
    throw new UsageError('An event needs an agent and a session: add --agent and --session, or --file.');
  }
  const common = { agentId, sessionId, sourceTimestamp, eventId };
  if (tool !== undefined) {
    return { ...common, category: 'tool_api', payload: await toolCallPayload(tool, flags) } as EventInput;
  }
  if (category === undefined)
    throw new UsageError('Add --tool for a tool call, or --category and --payload.');
  return { ...common, category, payload: flags.payload ?? {} };
}

async function toolCallPayload(
  toolName: string,
  flags: EventFlags,
): Promise<EventInput<'tool_api'>['payload']> {
  const { hashArguments } = await import('@actlog/recorder');
  const argumentsHash = flags.argumentsHash ?? (await hashArguments(flags.arguments ?? {}));
  return { toolName, argumentsHash, responseStatus: flags.status };
}

interface FeedFlags extends ConnectionFlags {
  readonly after?: number;
  readonly limit?: number;
  readonly follow?: true;
  readonly receipts?: true;
}

/** Creates the command `feed`. */
export function feedCommand(): Command {
  const command = new Command('feed').description(
    'Prints events, decisions, approvals, changes and deletions in the order of the log, as lines of JSON. To resume, pass the index of the last line as --after.',
  );
  addConnectionOptions(command);
  addExamples(command, [
    ['actlog feed --receipts > november.jsonl', 'everything, with receipts for `actlog log verify`'],
    ['actlog feed --after 41 --follow', 'what follows the record with index 41, until Ctrl+C'],
  ]);
  return command
    .optionsGroup('Filters:')
    .option('--after <index>', 'index of the last record that you have', parseWholeNumber)
    .option('--limit <number>', 'maximum number of records; all by default', parseWholeNumber)
    .option('--follow', 'wait for further records, until Ctrl+C')
    .option('--receipts', 'add to each record the proof that the log has it')
    .action(async (flags: FeedFlags) => {
      const client = await connect(flags);
      const { after, limit, follow, receipts } = flags;
      await untilInterrupted(async ({ signal }) => {
        for await (const record of readFeed(client, { after, limit, follow, receipts }, { signal })) {
          await print(stringifyExactJson(record) as string);
        }
      });
    });
}
