import type { Command } from 'commander';

/** A subcommand that is loaded when it is run, so that `actlog --help` loads none of them. */
export type Subcommand = ParsedSubcommand | FastSubcommand;

/** A subcommand whose arguments commander parses. */
export interface ParsedSubcommand {
  /** Description in the list of commands: a phrase in lower case, without a period. */
  readonly summary: string;
  /** Imports and creates the command. */
  load(): Promise<Command>;
}

/** A subcommand that parses its own arguments, because it runs once for each tool call. */
export interface FastSubcommand {
  readonly summary: string;
  /** Imports and runs the command. Resolves to the exit code. */
  start(args: readonly string[]): Promise<number>;
}
