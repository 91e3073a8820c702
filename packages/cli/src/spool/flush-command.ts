import type { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { connect } from '../connection/connect.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseDuration } from '../options/duration.ts';
import { addFormatOptions, type FormatFlags, formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { note, print } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { countOf } from './count-of.ts';
import { type FlushOutcome, flushSpool } from './flush-spool.ts';
import { addSpoolOptions, openSpool, type SpoolFlags } from './spool-options.ts';
import type { SpoolSurvey } from './spool-survey.ts';

interface FlushFlags extends SpoolFlags, FormatFlags {
  readonly timeout: number;
}

/** Adds `actlog spool flush`. */
export function flushCommand(parent: Command): Command {
  const command = parent
    .command('flush')
    .description('deliver the events of processes that have ended')
    .option('--timeout <duration>', 'time limit', parseDuration, 60_000)
    .action((flags: FlushFlags) => flush(flags));
  addFormatOptions(command);
  addSpoolOptions(command);
  addExamples(command, [
    'actlog spool flush',
    [
      'actlog spool flush --env-file old.env',
      'with the address and the key that the events were recorded with',
    ],
  ]);
  return command.addHelpText(
    'after',
    '\nRunning agents deliver their own events, and may go on meanwhile.\nExit codes: 0 if no event of an ended process stays, 1 otherwise, 2 for a wrong option, 4 without a key.',
  );
}

async function flush(flags: FlushFlags): Promise<void> {
  // Fails where the address or the key is not set.
  const client = await connect(flags);
  const { survey, spoolDir, tenant } = await openSpool(flags);
  const outcome =
    waitingOf(survey, 'ended') === 0
      ? { delivered: 0, deadLettered: 0, errors: [] }
      : await flushSpool({
          client,
          spoolDir,
          tenant,
          timeoutMs: flags.timeout,
          total: waitingOf(survey, 'ended'),
        });
  const after = (await openSpool(flags)).survey;
  await printOutcome(outcome, after, flags);
  if (waitingOf(after, 'ended') > 0 || outcome.deadLettered > 0) process.exitCode = exitCodes.failed;
}

async function printOutcome(
  { delivered, deadLettered, errors }: FlushOutcome,
  after: SpoolSurvey,
  flags: FormatFlags,
): Promise<void> {
  const staying = waitingOf(after, 'ended');
  const running = waitingOf(after, 'running');
  const format = formatOf(flags);
  if (format !== 'table') {
    const result = { delivered, deadLettered, waiting: staying, waitingOfRunning: running, errors };
    return print(jsonText(result, format === 'json' ? 2 : undefined));
  }
  await print(
    delivered === 0 && staying === 0 ? 'Nothing waits.' : `Delivered ${countOf(delivered, 'event')}.`,
  );
  if (running > 0) await print(`Running processes deliver ${countOf(running, 'more event')} themselves.`);
  if (deadLettered > 0) {
    note(
      `The service rejected ${countOf(deadLettered, 'event')}: actlog spool inspect --dead-letters shows why.`,
    );
  }
  if (staying > 0) note(`${countOf(staying, 'event')} could not be delivered.`);
  for (const error of errors) note(printable(error));
}

function waitingOf({ tenants }: SpoolSurvey, owner: 'running' | 'ended'): number {
  const journals = tenants.filter(({ isCurrent }) => isCurrent).flatMap((tenant) => tenant.journals);
  return journals.filter((journal) => journal.owner === owner).reduce((sum, { waiting }) => sum + waiting, 0);
}
