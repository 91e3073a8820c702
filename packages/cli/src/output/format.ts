import { type Command, Option } from 'commander';
import { escaped } from './printable.ts';

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

/** Characters of JSON text that a terminal must not get. Below U+0020, `JSON.stringify` escapes them in strings. */
const hidden = /[\x7f-\x9f\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/** `true` if a string has a character that {@link hiddenEscaped} escapes. */
export function hasHidden(text: string): boolean {
  return text.search(hidden) !== -1;
}

/** Returns JSON text, or YAML in which such characters are in double quotes, with escapes that are safe to print. */
export function hiddenEscaped(text: string): string {
  return text.replaceAll(hidden, escaped);
}

/**
 * Returns a value as JSON that is safe to print: the same JSON value, with characters that control a terminal or
 * reorder text written as escapes.
 *
 * @param indent - spaces for each level; none for one line
 */
export function jsonText(value: unknown, indent?: number): string {
  return hiddenEscaped(JSON.stringify(value, null, indent));
}
