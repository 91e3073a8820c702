import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseDuration } from '../options/duration.ts';
import { parseWholeNumber } from '../options/numbers.ts';
import { formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { note, print } from '../output/print.ts';
import { type Column, Table } from '../output/table.ts';
import { terminalWidth } from '../output/terminal-width.ts';
import { Interruption } from '../terminal/interruption.ts';
import { eventColumns } from './event-columns.ts';
import { EventFollower } from './follow-events.ts';
import { SessionFollower } from './follow-sessions.ts';
import { poll } from './poll.ts';
import { sessionColumns } from './session-columns.ts';

interface Flags extends ClientFlags {
  readonly agent?: string;
  readonly last: number;
  readonly interval: number;
}

/** Adds `sessions tail`. */
export function addSessionsTail(parent: Command): void {
  clientCommand(parent, {
    usage: 'tail [id]',
    description:
      'follow the events of a session as they arrive, or without an id the sessions of the tenant as they begin, until Ctrl+C; --json prints one value on each line, too',
    examples: [
      ['actlog sessions tail', 'each new session'],
      ['actlog sessions tail order-4711 --last 50', 'the last 50 events of a session, then each new one'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only sessions in which this agent acted; without a session id')
    .option('--last <number>', 'number of earlier events or sessions to print first', parseWholeNumber, 10)
    .addOption(
      new Option('--interval <duration>', 'delay between two requests')
        .argParser(parseDuration)
        .default(1000, '1s'),
    )
    .action(async (id: string | undefined, flags: Flags) => {
      const client = await connect(flags);
      if (id === undefined) {
        const follower = new SessionFollower(client, flags.agent);
        await follow((signal) => follower.read(signal), { columns: sessionColumns, flags, noun: 'sessions' });
      } else {
        const follower = new EventFollower(client, id);
        await follow((signal) => follower.read(signal), { columns: eventColumns, flags, noun: 'events' });
      }
    });
}

interface Following<Item> {
  readonly columns: readonly Column<Item>[];
  readonly flags: Flags;
  readonly noun: string;
}

/** Prints the last items that exist, then each new one until the user interrupts. */
async function follow<Item>(
  read: (signal: AbortSignal) => AsyncIterable<Item>,
  { columns, flags, noun }: Following<Item>,
): Promise<void> {
  const interruption = new Interruption();
  try {
    const { signal } = interruption;
    const isTable = formatOf(flags) === 'table';
    const table = new Table(columns, terminalWidth());
    const earlier = await lastOf(read(signal), flags.last);
    table.fit(earlier, { isStream: true });
    if (isTable) {
      await print(table.header());
      if (earlier.length === 0 && process.stderr.isTTY)
        note(`There are no ${noun} yet. Waiting for them; Ctrl+C ends it.`);
    }
    const show = (item: Item) => print(isTable ? table.line(item) : jsonText(item));
    for (const item of earlier) await show(item);
    for await (const item of poll(read, { signal, intervalMs: flags.interval })) await show(item);
  } catch (error) {
    interruption.check();
    throw error;
  } finally {
    interruption.close();
  }
  interruption.check();
}

/** Returns the last items of a sequence, in constant memory. */
async function lastOf<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const last: Item[] = [];
  for await (const item of items) {
    last.push(item);
    if (last.length > count) last.shift();
  }
  return last;
}
