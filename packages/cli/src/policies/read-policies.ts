import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { printList } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import { policyColumns, policyDetails } from './policy-columns.ts';

interface ListFlags extends ClientFlags, LimitFlags {
  readonly status: 'active' | 'archived' | 'all';
}

/** Adds `policies list`. */
export function addPoliciesList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list policies, newest first',
    examples: [
      'actlog policies list',
      ['actlog policies list --status all --json', 'with archived policies'],
    ],
  })
    .optionsGroup('Filters:')
    .addOption(
      new Option('--status <status>', 'only policies with this status')
        .choices(['active', 'archived', 'all'])
        .default('active'),
    );
  addLimitOption(command, 'policies').action(async (flags: ListFlags) => {
    const client = await connect(flags);
    const status = flags.status === 'all' ? undefined : flags.status;
    const list = client.policies.list({ status, limit: pageSizeFor(flags.limit) });
    await printList(list, { columns: policyColumns, flags, noun: 'policies' });
  });
}

/** Adds `policies show`. */
export function addPoliciesShow(parent: Command): void {
  clientCommand(parent, {
    usage: 'show <id>',
    description: 'show a policy',
    examples: [
      'actlog policies show pol_0198c1d2e3f47a5b8c6d7e8f90a1b2c3',
      ['actlog policies show ID --json > policy.json', 'keep a policy in a file'],
    ],
  }).action(async (id: string, flags: ClientFlags) => {
    const client = await connect(flags);
    const policy = await client.policies.get(id);
    await printRecord(policy, policyDetails(policy), flags);
  });
}
