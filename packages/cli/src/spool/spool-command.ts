import type { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { type ProcessJournal, readDeadLetters, readWaitingEvents } from '@actlog/recorder/spool';
import { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseDuration } from '../options/duration.ts';
import { addLimitOption, type LimitFlags } from '../options/numbers.ts';
import { addFormatOptions, type FormatFlags, formatOf, jsonText } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note, ProgressLine, print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { printable } from '../output/printable.ts';
import { Interruption } from '../terminal/confirm.ts';
import { addSpoolOptions, openSpool, type SpoolFlags } from './spool-options.ts';
import { countOf, formatBytes, oldestWaiting, type SpoolSurvey, type TenantSpool } from './spool-survey.ts';

/** Creates the command `actlog spool`. */
export function spoolCommand(): Command {
  const command = new Command('spool').description('see and deliver the events that recorders left on disk');
  statusCommand(command);
  flushCommand(command);
  inspectCommand(command);
  return command;
}

interface InspectFlags extends SpoolFlags, FormatFlags, LimitFlags {
  readonly deadLetters?: true;
}

/** Adds `actlog spool inspect`. */
function inspectCommand(parent: Command): Command {
  const command = parent
    .command('inspect')
    .description('list the events that wait, or the dead letters: ids, tools and times')
    .option('--dead-letters', 'list the events that the service rejected, with the reasons')
    .action((flags: InspectFlags) => inspect(flags));
  addLimitOption(command, 'events');
  addFormatOptions(command);
  addSpoolOptions(command);
  return addExamples(command, [
    'actlog spool inspect',
    ['actlog spool inspect --dead-letters', 'with the reasons of the service'],
  ]);
}

async function inspect(flags: InspectFlags): Promise<void> {
  const { tenants } = (await openSpool(flags)).survey;
  if (flags.deadLetters) return listDeadLetters(tenants, flags);
  return printList(waitingEvents(tenants), {
    flags,
    noun: 'waiting events',
    columns: [
      { title: 'TIME', value: ({ sourceTimestamp }) => localTime(sourceTimestamp), minWidth: 19 },
      { title: 'TOOL', value: ({ toolName, category }) => toolName ?? category },
      { title: 'AGENT', value: ({ agentId }) => agentId },
      { title: 'SESSION', value: ({ sessionId }) => sessionId },
      { title: 'PROCESS', value: ({ pid, owner }) => (owner === 'running' ? `${pid}` : `${pid} (ended)`) },
      { title: 'EVENT', value: ({ eventId }) => eventId },
    ],
  });
}

function listDeadLetters(tenants: readonly TenantSpool[], flags: InspectFlags): Promise<void> {
  return printList(deadLetters(tenants), {
    flags,
    noun: 'dead letters',
    columns: [
      { title: 'REJECTED', value: ({ deadLetteredAt }) => localTime(deadLetteredAt), minWidth: 19 },
      { title: 'REASON', value: ({ reason }) => reason },
      { title: 'TOOL', value: ({ toolName, category }) => toolName ?? category },
      { title: 'SESSION', value: ({ sessionId }) => sessionId },
      { title: 'EVENT', value: ({ eventId }) => eventId },
    ],
  });
}

function* waitingEvents(tenants: readonly TenantSpool[]) {
  for (const { folder, journals } of tenants) {
    for (const journal of journals) {
      const { process, owner } = journal;
      for (const event of readWaitingEvents(journal)) yield { ...event, pid: process.pid, owner, folder };
    }
  }
}

function* deadLetters(tenants: readonly TenantSpool[]) {
  for (const { folder } of tenants) {
    for (const { event, ...letter } of readDeadLetters(folder)) yield { ...letter, ...event, folder };
  }
}

/** Journals of one address and tenant, as `--json` prints them. */
interface TenantStatus {
  readonly folder: string;
  /** `true` for the address and the key, or the tenant, that are set. */
  readonly isCurrent: boolean;
  readonly waiting: number;
  readonly bytes: number;
  readonly oldestWaitingAt: string | null;
  readonly processes: readonly ProcessStatus[];
  readonly deadLetters: DeadLetterSummary;
}

interface ProcessStatus {
  readonly pid: number;
  readonly owner: ProcessJournal['owner'];
  readonly startedAt: string;
  readonly waiting: number;
  readonly bytes: number;
  readonly oldestWaitingAt: string | null;
  readonly problems: readonly string[];
}

/** Adds `actlog spool status`. */
function statusCommand(parent: Command): Command {
  const command = parent
    .command('status')
    .description('show the events that wait, by process, and the dead letters')
    .action((flags: SpoolFlags & FormatFlags) => showStatus(flags));
  addFormatOptions(command);
  addSpoolOptions(command);
  return addExamples(command, [
    'actlog spool status',
    ['actlog spool status --json | jq ".folders[].waiting"', 'for monitoring'],
  ]);
}

async function showStatus(flags: SpoolFlags & FormatFlags): Promise<void> {
  const { survey } = await openSpool(flags);
  const folders = survey.tenants.map(tenantStatus);
  const format = formatOf(flags);
  if (format === 'json') return print(jsonText({ spool: survey.userFolder, folders }, 2));
  if (format === 'jsonl') {
    for (const folder of folders) await print(jsonText(folder));
    return;
  }
  await printStatus(survey, folders);
}

async function printStatus(survey: SpoolSurvey, folders: readonly TenantStatus[]): Promise<void> {
  await print(`Spool   ${printable(survey.userFolder)}`);
  const rows = folders.flatMap(({ folder, isCurrent, processes }) =>
    processes.map((process) => ({ ...process, folder, isCurrent })),
  );
  await printList(rows, {
    noun: 'journals',
    flags: { limit: Number.POSITIVE_INFINITY },
    columns: [
      { title: 'PROCESS', value: ({ pid }) => pid, align: 'right' },
      {
        title: 'STATE',
        value: ({ owner }) => owner,
        style: ({ owner }) => (owner === 'ended' ? 'yellow' : 'green'),
      },
      { title: 'WAITING', value: ({ waiting }) => waiting, align: 'right' },
      { title: 'OLDEST', value: ({ oldestWaitingAt }) => localTime(oldestWaitingAt) },
      { title: 'SIZE', value: ({ bytes }) => formatBytes(bytes), align: 'right' },
      { title: 'KEY', value: ({ isCurrent }) => (isCurrent ? 'this' : 'other') },
      { title: 'FOLDER', value: ({ folder }) => folder },
    ],
  });
  for (const { folder, deadLetters } of folders) {
    const { count, lastAt } = deadLetters;
    if (count > 0) note(`${countOf(count, 'dead letter')} in ${folder}, the last at ${localTime(lastAt)}.`);
  }
  const problems = [
    ...survey.problems.map(({ message }) => message),
    ...folders.flatMap(({ processes }) => processes.flatMap((process) => process.problems)),
  ];
  for (const problem of problems) note(printable(problem));
}

function tenantStatus({ folder, isCurrent, journals }: TenantSpool): TenantStatus {
  return {
    folder,
    isCurrent,
    waiting: journals.reduce((sum, { waiting }) => sum + waiting, 0),
    bytes: journals.reduce((sum, { bytes }) => sum + bytes, 0),
    oldestWaitingAt: oldestWaiting(journals) ?? null,
    processes: journals.map(processStatus),
    deadLetters: deadLettersOf(folder),
  };
}

function processStatus(journal: ProcessJournal): ProcessStatus {
  const { process, owner, createdAtMs, waiting, bytes, problems } = journal;
  return {
    pid: process.pid,
    owner,
    startedAt: new Date(createdAtMs).toISOString(),
    waiting,
    bytes,
    oldestWaitingAt: oldestWaiting([journal]) ?? null,
    problems,
  };
}

/** Number of the events that the service rejected, and the reason of the last. */
interface DeadLetterSummary {
  readonly count: number;
  readonly lastAt: string | null;
  readonly lastReason: string | null;
}

/** Summarizes the dead letters of a folder. Files that cannot be read count as none. */
function deadLettersOf(folder: string): DeadLetterSummary {
  let count = 0;
  let lastAt: string | null = null;
  let lastReason: string | null = null;
  try {
    for (const { deadLetteredAt, reason } of readDeadLetters(folder)) {
      count += 1;
      lastAt = deadLetteredAt;
      lastReason = reason;
    }
  } catch {
    // `actlog doctor` reports the reason.
  }
  return { count, lastAt, lastReason };
}

interface FlushFlags extends SpoolFlags, FormatFlags {
  readonly timeout: number;
}

/** Adds `actlog spool flush`. */
function flushCommand(parent: Command): Command {
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
