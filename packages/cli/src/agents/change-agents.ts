import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { UsageError } from '../errors/usage-error.ts';
import { printRecord } from '../output/print-record.ts';
import { agentDetails } from './agent-columns.ts';
import { type AgentFieldFlags, addAgentFieldOptions, agentFields } from './agent-fields.ts';

/** Adds `agents create`. */
export function addAgentsCreate(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'create [id]',
    description: 'register an agent; without an id, the service generates one',
    examples: ['actlog agents create billing --name "Billing agent" --owner payments@example.com'],
  });
  addAgentFieldOptions(command).action(
    async (id: string | undefined, flags: ClientFlags & AgentFieldFlags) => {
      const { name, ...fields } = agentFields(flags) ?? {};
      if (name === undefined) throw new UsageError('An agent needs a name: add --name.');
      const client = await connect(flags);
      const agent = await client.agents.create({ name, ...(id !== undefined && { id }), ...fields });
      await printRecord(agent, agentDetails(agent), flags);
    },
  );
}

interface UpdateFlags extends ClientFlags, AgentFieldFlags {
  readonly status?: 'active' | 'revoked';
}

/** Adds `agents update`. */
export function addAgentsUpdate(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'update <id>',
    description: 'change the given fields of an agent',
    examples: [
      [
        'actlog agents update billing --status revoked',
        'stop an agent: every check of its actions is denied',
      ],
      ['actlog agents update billing --metadata \'{"team":null}\'', 'remove a member of the metadata'],
    ],
  });
  addAgentFieldOptions(command)
    .addOption(
      new Option('--status <status>', 'revoked denies every action of the agent').choices([
        'active',
        'revoked',
      ]),
    )
    .action(async (id: string, flags: UpdateFlags) => {
      const { status } = flags;
      const fields = { ...agentFields(flags), ...(status !== undefined && { status }) };
      if (Object.keys(fields).length === 0) {
        throw new UsageError('Nothing to change: add a field, such as --name or --status.');
      }
      const client = await connect(flags);
      const agent = await client.agents.update(id, fields);
      await printRecord(agent, agentDetails(agent), flags);
    });
}
