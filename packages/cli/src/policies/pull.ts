import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { CanceledError } from '../errors/usage-error.ts';
import { note, write } from '../output/print.ts';
import { writeFile } from '../output/print-list.ts';
import { confirm } from '../terminal/confirm.ts';

interface Flags extends ConnectionFlags {
  readonly json?: true;
  readonly yes?: true;
}

/** Adds `policies pull`. */
export function addPoliciesPull(parent: Command): void {
  const command = parent
    .command('pull [file]')
    .description('write the active policies of the service to a file, or to standard output')
    .optionsGroup('Output:')
    .option('--json', 'write JSON, as for files with the ending .json; YAML by default')
    .option('--yes', 'overwrite the file without a question; needed without a terminal')
    .action(async (file: string | undefined, flags: Flags) => {
      const { policiesText } = await import('./files/policies-text.ts');
      const { readDefinitions } = await import('./plan/apply-plan.ts');
      const definitions = await readDefinitions(await connect(flags));
      const format = flags.json || file?.endsWith('.json') ? 'json' : 'yaml';
      const text = policiesText(definitions, format);
      if (file === undefined || file === '-') return write(text);
      if (existsSync(file) && !(await confirm(`overwrite the file "${file}"`, flags.yes))) {
        throw new CanceledError();
      }
      writeFile(file, text);
      const { length } = definitions;
      note(`Wrote ${length} ${length === 1 ? 'policy' : 'policies'} to ${file}.`);
    });
  addConnectionOptions(command);
  addExamples(command, [
    ['actlog policies pull policies/policies.yaml', 'start with the policies of the service'],
    'actlog policies pull --json',
  ]);
}
