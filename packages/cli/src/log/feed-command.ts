import { readFeed } from '@actlog/client/server';
import { stringifyExactJson } from '@actlog/protocol';
import { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { parseWholeNumber } from '../options/numbers.ts';
import { print } from '../output/print.ts';
import { untilInterrupted } from '../terminal/confirm.ts';

interface Flags extends ConnectionFlags {
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
    .action(async (flags: Flags) => {
      const client = await connect(flags);
      const { after, limit, follow, receipts } = flags;
      await untilInterrupted(async ({ signal }) => {
        for await (const record of readFeed(client, { after, limit, follow, receipts }, { signal })) {
          await print(stringifyExactJson(record) as string);
        }
      });
    });
}
