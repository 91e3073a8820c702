import type { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import type { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseDuration } from '../options/duration.ts';
import { addFormatOptions, type FormatFlags, formatOf, jsonText } from '../output/format.ts';
import { note, ProgressLine, print } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { Interruption } from '../terminal/confirm.ts';
import { addSpoolOptions, openSpool, type SpoolFlags } from './spool-options.ts';
import { countOf, type SpoolSurvey } from './spool-survey.ts';

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

/** Options of {@link flushSpool}. */
interface FlushSpoolOptions {
  readonly client: Actlog;
  readonly spoolDir: string | undefined;
  readonly tenant: string | undefined;
  readonly timeoutMs: number;
  /** Number of events that wait, for the progress. */
  readonly total: number;
}

/** Result of a delivery. */
interface FlushOutcome {
  readonly delivered: number;
  readonly deadLettered: number;
  /** Reasons why events stay, without repetitions. */
  readonly errors: readonly string[];
}

/** Time between two looks at the progress, in milliseconds. */
const roundMs = 500;
/** Number of rounds without progress after an error, after which the rest stays. */
const maxIdleRounds = 4;

/**
 * Delivers the events of ended processes with a new recorder, which takes over their journals as an agent's recorder
 * does, so several may run at once.
 *
 * @throws InterruptedError when the user interrupts it; what is not delivered stays
 */
async function flushSpool(options: FlushSpoolOptions): Promise<FlushOutcome> {
  const { client, spoolDir, tenant, total } = options;
  const errors = new Set<string>();
  const onError = ({ message }: Error) => void errors.add(message);
  const recorder = new Recorder({ client, spoolDir, tenant, agentId: 'actlog-spool', onError, onDrop() {} });
  const progress = new ProgressLine();
  const interruption = new Interruption();
  try {
    const show = (delivered: number) => progress.show(`Delivered ${delivered} of ${total} events`);
    await waitForDelivery(recorder, {
      endMs: performance.now() + options.timeoutMs,
      interruption,
      errors,
      show,
    });
  } finally {
    progress.clear();
    interruption.close();
  }
  const { delivered, deadLettered } = await recorder.close({ timeoutMs: 0 });
  interruption.check(`Delivered ${delivered} of ${total} events; the others stay.`);
  return { delivered, deadLettered, errors: [...errors] };
}

interface DeliveryWait {
  readonly endMs: number;
  readonly interruption: Interruption;
  readonly errors: ReadonlySet<string>;
  readonly show: (delivered: number) => void;
}

/** Waits until nothing is pending, the time is over, the user interrupts it, or errors stop the delivery. */
async function waitForDelivery(recorder: Recorder, options: DeliveryWait): Promise<void> {
  const { endMs, interruption, errors, show } = options;
  let handled = 0;
  for (let idleRounds = 0; idleRounds < maxIdleRounds; ) {
    const leftMs = endMs - performance.now();
    const timeoutMs = Math.max(0, Math.min(roundMs, leftMs));
    const { pending, delivered, deadLettered } = await recorder.flush({ timeoutMs });
    show(delivered);
    if (pending === 0 || leftMs <= 0 || interruption.signal.aborted) return;
    const hasProgress = delivered + deadLettered > handled;
    handled = delivered + deadLettered;
    idleRounds = hasProgress || errors.size === 0 ? 0 : idleRounds + 1;
  }
}
