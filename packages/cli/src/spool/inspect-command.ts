import { readDeadLetters, readWaitingEvents } from '@actlog/recorder/spool';
import type { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { addLimitOption, type LimitFlags } from '../options/numbers.ts';
import { addFormatOptions, type FormatFlags } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { printList } from '../output/print-list.ts';
import { addSpoolOptions, openSpool, type SpoolFlags } from './spool-options.ts';
import type { TenantSpool } from './spool-survey.ts';

interface InspectFlags extends SpoolFlags, FormatFlags, LimitFlags {
  readonly deadLetters?: true;
}

/** Adds `actlog spool inspect`. */
export function inspectCommand(parent: Command): Command {
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
