import { type Command, Option } from 'commander';

/** Options that choose the format of the output. */
export interface FormatFlags {
  readonly json?: true;
  readonly jsonl?: true;
}

/** Format of the output: a table for people, one JSON document, or one JSON value on each line. */
export type Format = 'table' | 'json' | 'jsonl';

/** Returns the format that the options choose. */
export function formatOf({ json, jsonl }: FormatFlags): Format {
  if (json) return 'json';
  return jsonl ? 'jsonl' : 'table';
}

/** Adds `--json` and `--jsonl` to a command. */
export function addFormatOptions(command: Command): Command {
  return command
    .optionsGroup('Output:')
    .addOption(new Option('--json', 'print one JSON document').conflicts('jsonl'))
    .addOption(new Option('--jsonl', 'print one JSON value on each line'));
}
