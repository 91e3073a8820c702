import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionFlags } from '../connection/connection-options.ts';
import { addFormatOptions, type FormatFlags } from '../output/format.ts';
import { addExamples, type Example } from './examples.ts';

/** Options of every command that calls the service. */
export interface ClientFlags extends ConnectionFlags, FormatFlags {}

/** Definition of a command that calls the service. */
export interface ClientCommand {
  /** Name and arguments, such as `show <id>`. */
  readonly usage: string;
  /** Phrase in lower case, without a period. */
  readonly description: string;
  readonly examples: readonly Example[];
}

/** Adds a command that calls the service, with the options of the connection and of the format. */
export function clientCommand(parent: Command, { usage, description, examples }: ClientCommand): Command {
  const command = parent.command(usage).description(description);
  addFormatOptions(command);
  addConnectionOptions(command);
  return addExamples(command, examples);
}
