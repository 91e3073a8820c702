import {
  type AuditAction,
  type AuditEntry,
  type AuditTargetKind,
  listAuditEntries,
} from '@actlog/client/server';
import { auditActions, auditTargetKinds } from '@actlog/protocol';
import { Command, Option } from 'commander';
import { addExamples, type ClientFlags } from '../command/client-command.ts';
import { addConnectionOptions, connect } from '../connection/connect.ts';
import { parseTime } from '../options/duration.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { addFormatOptions } from '../output/format.ts';
import { localTime } from '../output/local-time.ts';
import { printList } from '../output/print-list.ts';
import type { Column } from '../output/table.ts';

interface Flags extends ClientFlags, LimitFlags {
  readonly actor?: string;
  readonly action?: AuditAction;
  readonly kind?: AuditTargetKind;
  readonly target?: string;
  readonly since?: Date;
  readonly until?: Date;
}

/** Returns the author of a change in a few words. */
function actorText({ actor: { kind, id, name, principal } }: AuditEntry): string {
  if (kind === 'operator') return 'the server command';
  if (kind === 'server') return 'the server';
  const key = name ?? id ?? 'unknown key';
  return principal === null ? key : `${principal} (${key})`;
}

const columns: readonly Column<AuditEntry>[] = [
  { title: 'TIME', value: ({ at }) => localTime(at), minWidth: 19 },
  { title: 'WHO', value: actorText, style: () => 'bold', minWidth: 10 },
  { title: 'ACTION', value: ({ action }) => action, minWidth: 12 },
  { title: 'TARGET', value: ({ target }) => target.name ?? target.id, minWidth: 12 },
  { title: 'FIELDS', value: ({ changes }) => changes.map(({ field }) => field).join(', ') },
];

/** Creates the command `audit`. */
export function auditCommand(): Command {
  const command = new Command('audit').description(
    'Lists who changed what, newest first: policies, keys, agents, webhooks, decisions of approvers, settings.',
  );
  addFormatOptions(command);
  addConnectionOptions(command);
  addExamples(command, [
    ['actlog audit --since 7d --kind policy', 'changes of policies in the last week'],
    ['actlog audit --limit all --jsonl > audit.jsonl', 'export all of it, with the values before and after'],
  ]);
  command
    .optionsGroup('Filters:')
    .option('--since <time>', 'only changes from then on: 24h, 7d, or an ISO 8601 time', parseTime)
    .option('--until <time>', 'only changes before then', parseTime)
    .option('--actor <key>', 'only changes by the key with this id')
    .addOption(new Option('--action <action>', 'only these changes').choices(auditActions))
    .addOption(new Option('--kind <kind>', 'only changes of this kind of thing').choices(auditTargetKinds))
    .option('--target <id>', 'only changes of the thing with this id');
  return addLimitOption(command, 'changes').action(async (flags: Flags) => {
    const client = await connect(flags);
    const { actor, action, kind: targetKind, target, since, until } = flags;
    const filters = { actor, action, targetKind, target, since, until };
    const entries = listAuditEntries(client, { ...filters, limit: pageSizeFor(flags.limit) });
    await printList(entries, { columns, flags, noun: 'changes' });
  });
}
