import type { ProcessJournal } from '@actlog/recorder/spool';
import type { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { addFormatOptions, type FormatFlags, formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { localTime } from '../output/local-time.ts';
import { note, print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { printable } from '../output/printable.ts';
import { countOf } from './count-of.ts';
import { type DeadLetterSummary, deadLettersOf } from './dead-letter-summary.ts';
import { formatBytes } from './format-bytes.ts';
import { oldestWaiting } from './oldest-waiting.ts';
import { addSpoolOptions, openSpool, type SpoolFlags } from './spool-options.ts';
import type { SpoolSurvey, TenantSpool } from './spool-survey.ts';

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
export function statusCommand(parent: Command): Command {
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
