import { type ProcessJournal, readDeadLetters, readWaitingEvents } from '@actlog/recorder/spool';
import { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addLimitOption, type LimitFlags } from '../options/numbers.ts';
import { addFormatOptions, type FormatFlags, formatOf, jsonText } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { note, print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { printable } from '../output/printable.ts';
import { flushCommand } from './flush-command.ts';
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

async function* waitingEvents(tenants: readonly TenantSpool[]) {
  for (const { folder, journals } of tenants) {
    for (const journal of journals) {
      const { process, owner } = journal;
      for (const event of readWaitingEvents(journal)) yield { ...event, pid: process.pid, owner, folder };
    }
  }
}

async function* deadLetters(tenants: readonly TenantSpool[]) {
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
  await printList(asyncRows(folders), {
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

async function* asyncRows(folders: readonly TenantStatus[]) {
  for (const { folder, isCurrent, processes } of folders) {
    for (const process of processes) yield { ...process, folder, isCurrent };
  }
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
