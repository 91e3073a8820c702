import { Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { UsageError } from '../errors/usage-error.ts';
import { addLimitOption, definedFields, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { parseObject } from '../options/read-json.ts';
import { printList } from '../output/print-list.ts';
import { printRecord } from '../output/print-record.ts';
import {
  addSessionFilterOptions,
  type SessionFilterFlags,
  sessionColumns,
  sessionQuery,
} from '../sessions/session-columns.ts';
import { agentColumns, agentDetails } from './agent-columns.ts';

/** Creates the command `agents`. */
export function agentsCommand(): Command {
  const agents = new Command('agents').description('Registers, lists, changes and revokes agents.');
  addAgentsList(agents);
  addAgentsShow(agents);
  addAgentsSessions(agents);
  addAgentsCreate(agents);
  addAgentsUpdate(agents);
  return agents;
}

/** Adds `agents create`. */
function addAgentsCreate(parent: Command): void {
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
function addAgentsUpdate(parent: Command): void {
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

/** Options with the fields of an agent. */
interface AgentFieldFlags {
  readonly name?: string;
  readonly description?: string;
  readonly framework?: string;
  readonly agentVersion?: string;
  readonly owner?: string;
  readonly metadata?: Record<string, unknown>;
}

/** Adds the options with the fields of an agent. */
function addAgentFieldOptions(command: Command): Command {
  return command
    .optionsGroup('Fields:')
    .option('--name <text>', 'display name')
    .option('--description <text>', 'purpose of the agent')
    .option('--framework <name>', 'AI framework, such as langchain')
    .option('--agent-version <version>', 'version of the agent itself')
    .option('--owner <text>', 'team or address that is responsible for it')
    .option('--metadata <json>', 'JSON object with custom data', parseObject);
}

/** Returns the fields that the options set. */
function agentFields({ agentVersion, name, description, framework, owner, metadata }: AgentFieldFlags) {
  return definedFields({ name, description, framework, version: agentVersion, owner, metadata });
}

interface ListFlags extends ClientFlags, LimitFlags {
  readonly status?: 'active' | 'revoked';
  readonly registered?: boolean;
}

/** Adds `agents list`. */
function addAgentsList(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'list',
    description: 'list agents, newest first',
    examples: [
      'actlog agents list',
      ['actlog agents list --no-registered', 'agents that have sent events and were never registered'],
    ],
  })
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'only agents with this status').choices(['active', 'revoked']))
    .option('--registered', 'only registered agents')
    .option('--no-registered', 'only agents known from their events alone');
  addLimitOption(command, 'agents').action(async (flags: ListFlags) => {
    const client = await connect(flags);
    const { status, registered, limit } = flags;
    const list = client.agents.list({ status, registered, limit: pageSizeFor(limit) });
    await printList(list, { columns: agentColumns, flags, noun: 'agents' });
  });
}

/** Adds `agents show`. */
function addAgentsShow(parent: Command): void {
  clientCommand(parent, {
    usage: 'show <id>',
    description: 'show an agent',
    examples: ['actlog agents show billing'],
  }).action(async (id: string, flags: ClientFlags) => {
    const client = await connect(flags);
    const agent = await client.agents.get(id);
    await printRecord(agent, agentDetails(agent), flags);
  });
}

/** Adds `agents sessions`. */
function addAgentsSessions(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'sessions <id>',
    description: 'list the sessions of an agent, newest first',
    examples: ['actlog agents sessions billing --since 7d'],
  });
  addSessionFilterOptions(command);
  addLimitOption(command, 'sessions').action(
    async (id: string, flags: ClientFlags & LimitFlags & SessionFilterFlags) => {
      const client = await connect(flags);
      const list = client.agents.sessions(id, { ...sessionQuery(flags), limit: pageSizeFor(flags.limit) });
      await printList(list, { columns: sessionColumns, flags, noun: 'sessions' });
    },
  );
}
