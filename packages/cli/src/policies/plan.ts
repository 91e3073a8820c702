import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import type { PlanFlags } from './plan/apply-plan.ts';

/** Exit code of `policies plan --exit-code` when there are changes, as of `terraform plan -detailed-exitcode`. */
const changesPlanned = 2;

interface Flags extends ClientFlags, PlanFlags {
  readonly exitCode?: true;
}

/** Adds `policies plan`. */
export function addPoliciesPlan(parent: Command): void {
  clientCommand(parent, {
    usage: 'plan [paths...]',
    description: 'show what `apply` would change: policies in files against the active ones of the service',
    examples: [
      ['actlog policies plan', 'the files in the folder "policies"'],
      ['actlog policies plan policies team.yaml --prune', 'with policies that are in no file'],
      ['actlog policies plan --prune --exit-code', 'for CI: exit code 2 if the service differs'],
    ],
  })
    .optionsGroup('Plan:')
    .option('--prune', 'archive active policies that are in no file')
    .option(
      '--exit-code',
      `exit with ${changesPlanned} if there are changes, 0 if not, and 1, 3 or 4 for errors`,
    )
    .action(async (paths: string[], flags: Flags) => {
      // Loaded here, because they are slow to load and the other commands do without them.
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { readPlan } = await import('./plan/apply-plan.ts');
      const { showPlan } = await import('./plan/apply-plan.ts');
      const files = await readPolicyFiles(paths);
      const plan = await readPlan(await connect(flags), files, flags);
      await showPlan(plan, flags);
      if (flags.exitCode && plan.changes.length > 0) process.exitCode = changesPlanned;
    });
}
