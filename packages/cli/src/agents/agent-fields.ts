import type { Command } from 'commander';
import { definedFields } from '../options/defined-fields.ts';
import { parseObject } from '../options/read-json.ts';

/** Options with the fields of an agent. */
export interface AgentFieldFlags {
  readonly name?: string;
  readonly description?: string;
  readonly framework?: string;
  readonly agentVersion?: string;
  readonly owner?: string;
  readonly metadata?: Record<string, unknown>;
}

/** Adds the options with the fields of an agent. */
export function addAgentFieldOptions(command: Command): Command {
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
export function agentFields({
  agentVersion,
  name,
  description,
  framework,
  owner,
  metadata,
}: AgentFieldFlags) {
  return definedFields({ name, description, framework, version: agentVersion, owner, metadata });
}
