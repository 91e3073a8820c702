import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionFlags } from '../connection/connect.ts';
import { addFormatOptions, type FormatFlags } from '../output/format.ts';

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

/** A command line, with or without a sentence about it. */
export type Example = string | readonly [line: string, comment: string];

/** Adds examples to the end of a command's help. */
export function addExamples(command: Command, examples: readonly Example[]): Command {
  const lines = examples.map((example) => {
    if (typeof example === 'string') return `  $ ${example}`;
    const [line, comment] = example;
    return `  # ${comment}\n  $ ${line}`;
  });
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
