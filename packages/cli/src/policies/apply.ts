import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import type { ApplyFlags } from './plan/confirm-and-apply.ts';
import type { PlanFlags } from './plan/read-plan.ts';

interface Flags extends ClientFlags, PlanFlags, ApplyFlags {}

/** Adds `policies apply`. */
export function addPoliciesApply(parent: Command): void {
  clientCommand(parent, {
    usage: 'apply [paths...]',
    description: 'create, change and archive policies, so that the service has those of the files',
    examples: [
      ['actlog policies apply', 'the files in the folder "policies", after a question'],
      ['actlog policies apply policies --prune --yes', 'for CI: without a question'],
    ],
  })
    .optionsGroup('Plan:')
    .option('--prune', 'archive active policies that are in no file, permanently')
    .option('--yes', 'apply without a question; needed without a terminal')
    .action(async (paths: string[], flags: Flags) => {
      const { readPolicyFiles } = await import('./files/read-policy-files.ts');
      const { readPlan } = await import('./plan/read-plan.ts');
      const { confirmAndApply } = await import('./plan/confirm-and-apply.ts');
      const files = await readPolicyFiles(paths);
      const client = await connect(flags);
      await confirmAndApply(client, await readPlan(client, files, flags), flags);
    });
}
