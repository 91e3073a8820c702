import type { PolicyCreate, PolicyUpdate } from '@actlog/client';
import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { CanceledError } from '../errors/canceled-error.ts';
import { UsageError } from '../errors/usage-error.ts';
import { printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { canPrompt, confirm } from '../terminal/confirm.ts';
import { policyDetails } from './policy-columns.ts';
import { addPolicyFieldOptions, type PolicyFieldFlags, policyFields } from './policy-fields.ts';

/** Adds `policies create`. */
export function addPoliciesCreate(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'create',
    description: 'create a policy from options or from a JSON file',
    examples: [
      [
        "actlog policies create --name 'Refunds need a person' --effect require_approval --tools 'refund*'",
        'hold every refund',
      ],
      'actlog policies create --file policy.json --mode log_only',
    ],
  });
  addPolicyFieldOptions(command).action(async (flags: ClientFlags & PolicyFieldFlags) => {
    const fields = await policyFields(flags);
    for (const required of ['name', 'effect']) {
      if (fields[required] === undefined) {
        throw new UsageError(
          `A policy needs a field "${required}": add --${required}, or the field in --file.`,
        );
      }
    }
    const client = await connect(flags);
    // The service validates the fields, and names those that are invalid.
    const policy = await client.policies.create(fields as unknown as PolicyCreate);
    await printRecord(policy, policyDetails(policy), flags);
  });
}

/** Adds `policies update`. */
export function addPoliciesUpdate(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'update <id>',
    description: 'change the given fields of a policy; null in a JSON file removes a field',
    examples: [
      ['actlog policies update ID --mode enforce', 'enforce a policy that only reported'],
      'echo \'{"condition":null}\' | actlog policies update ID --file -',
    ],
  });
  addPolicyFieldOptions(command).action(async (id: string, flags: ClientFlags & PolicyFieldFlags) => {
    const fields = await policyFields(flags);
    if (Object.keys(fields).length === 0) {
      throw new UsageError('Nothing to change: add a field, such as --mode, or --file.');
    }
    const client = await connect(flags);
    const policy = await client.policies.update(id, fields as PolicyUpdate);
    await printRecord(policy, policyDetails(policy), flags);
  });
}

/** Adds `policies archive`. */
export function addPoliciesArchive(parent: Command): void {
  clientCommand(parent, {
    usage: 'archive <id>',
    description: 'archive a policy permanently: it no longer decides, and can still be read',
    examples: ['actlog policies archive ID', 'actlog policies archive ID --yes'],
  })
    .option('--yes', 'archive without a question; needed without a terminal')
    .action(async (id: string, flags: ClientFlags & { readonly yes?: true }) => {
      const client = await connect(flags);
      // Asked about by name, where there is somebody to ask.
      const name = flags.yes || !canPrompt() ? id : ((await client.policies.get(id)).name ?? id);
      if (!(await confirm(`archive the policy "${printable(name)}" permanently`, flags.yes))) {
        throw new CanceledError();
      }
      const policy = await client.policies.archive(id);
      await printRecord(policy, policyDetails(policy), flags);
    });
}
