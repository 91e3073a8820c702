import type { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addFormatOptions, type FormatFlags, formatOf, jsonText } from '../output/format.ts';
import { note, print } from '../output/print.ts';
import { terminalWidth } from '../output/printable.ts';
import { type Column, Table } from '../output/table.ts';
import type { PolicyPack } from './packs/policy-pack.ts';

interface AddFlags {
  readonly folder: string;
  readonly enforce?: true;
  readonly dryRun?: true;
}

const columns: readonly Column<PolicyPack>[] = [
  { title: 'PACK', value: ({ name }) => name, style: () => 'bold' },
  { title: 'POLICIES', value: ({ policies }) => String(policies.length) },
  { title: 'CONTENT', value: ({ title }) => title, minWidth: 40 },
];

/** Adds `policies list-packs` and `policies add-pack`. */
export function addPolicyPacks(parent: Command): void {
  const list = parent
    .command('list-packs')
    .description('list the packs of policies that come with the command')
    .action(async (flags: FormatFlags) => {
      const { readPacks } = await import('./packs/policy-pack.ts');
      const packs = readPacks();
      if (formatOf(flags) !== 'table') {
        const shown = packs.map(({ name, title, policies }) => ({ name, title, policies }));
        await print(jsonText(shown, 2));
        return;
      }
      const table = new Table(columns, terminalWidth());
      table.fit(packs);
      await print(table.header());
      for (const pack of packs) await print(table.line(pack));
    });
  addFormatOptions(list);
  addExamples(list, ['actlog policies list-packs']);
  const add = parent
    .command('add-pack <name>')
    .description('write a pack of policies with its tests to a file, or upgrade it; first as log_only')
    .optionsGroup('File:')
    .option('--folder <folder>', 'folder of the policy files', 'policies')
    .option('--enforce', 'set the mode of all policies of the pack to enforce')
    .option('--dry-run', 'show what would change, and write nothing')
    .action(async (name: string, { folder, enforce, dryRun }: AddFlags) => {
      const { addPack } = await import('./packs/add-pack.ts');
      const { file, lines, isChanged } = addPack(name, { folder, enforce: enforce === true, dryRun });
      for (const line of lines) await print(line);
      if (!isChanged) note(`${file} is up to date.`);
      else if (dryRun) note(`Nothing was written to ${file}.`);
      else note(`Wrote ${file}. Next: actlog policies test, plan and apply.`);
    });
  addExamples(add, [
    ['actlog policies add-pack shell-git', 'as log_only: it reports, and decides nothing'],
    ['actlog policies add-pack shell-git --enforce', 'once its reports are as expected'],
  ]);
}
