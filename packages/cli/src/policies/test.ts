import type { Command } from 'commander';
import { addExamples } from '../command/examples.ts';
import { UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { addFormatOptions } from '../output/format.ts';
import type { ReportFlags } from './trial/show-report.ts';

/** Adds `policies test`. */
export function addPoliciesTest(parent: Command): void {
  const command = parent
    .command('test [paths...]')
    .description('run the tests in policy files, without a service; exit code 1 if one fails')
    .optionsGroup('Tests:')
    .option('--junit <file>', 'write the results as JUnit XML, too')
    .action(async (paths: string[], flags: ReportFlags) => {
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { runPolicyTests } = await import('./trial/run-policy-tests.ts');
      const { showReport } = await import('./trial/show-report.ts');
      const files = await readPolicyFiles(paths);
      if (files.tests.length === 0) {
        throw new UsageError(
          'There are no tests in these files: add a list "tests" with actions and decisions.',
        );
      }
      const report = runPolicyTests(files);
      await showReport(report, flags);
      if (report.failed > 0) process.exitCode = exitCodes.failed;
    });
  addFormatOptions(command);
  addExamples(command, [
    ['actlog policies test', 'the files in the folder "policies"'],
    ['actlog policies test policies --junit report.xml', 'for CI'],
  ]);
}
