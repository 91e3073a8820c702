import type { Argument, Command, Option } from 'commander';
import { print } from '../output/print.ts';
import { subcommands } from '../subcommands.ts';

/**
 * Prints the suggestions for a completion script: the word, and after a tab its description.
 *
 * @param args - `--`, then the words after the name of the command up to the cursor
 */
export async function complete(args: readonly string[]): Promise<void> {
  const words = args[0] === '--' ? args.slice(1) : args;
  for (const { word, description } of await suggestions(words)) {
    const [line = ''] = description.split('\n');
    await print(line === '' ? word : `${word}\t${line}`);
  }
}

/** A word that is valid at the cursor. */
interface Suggestion {
  readonly word: string;
  readonly description: string;
}

/**
 * Returns the words that are valid at the cursor: subcommands, options and choices. Only the subcommand on the line is
 * loaded.
 *
 * @param words - words after the name of the command, up to the cursor; the last one is being typed
 */
export async function suggestions(words: readonly string[]): Promise<Suggestion[]> {
  const [name = '', ...rest] = words;
  if (rest.length === 0) return startingWith(name, rootSuggestions());
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (!subcommand || !('load' in subcommand)) return [];
  return suggestionsIn(await subcommand.load(), rest);
}

function rootSuggestions(): Suggestion[] {
  const names = Object.entries(subcommands).map(([word, { summary }]) => ({ word, description: summary }));
  return [
    ...names,
    { word: 'help', description: 'show the help of a command' },
    { word: '--help', description: 'show help' },
    { word: '--version', description: 'show the version' },
  ];
}

function suggestionsIn(command: Command, words: readonly string[]): Suggestion[] {
  let at = command;
  let valued: Option | undefined;
  let position = 0;
  for (const word of words.slice(0, -1)) {
    // bash splits `--option=value` into three words.
    if (word === '=') continue;
    if (valued !== undefined) {
      valued = undefined;
    } else if (word.startsWith('-')) {
      const option = findOption(at, word);
      valued = option !== undefined && takesValue(option) && !word.includes('=') ? option : undefined;
    } else {
      const inner: Command | undefined = at.commands.find((one) => one.name() === word);
      if (inner === undefined) position += 1;
      else at = inner;
    }
  }
  const typed = words.at(-1) === '=' ? '' : (words.at(-1) ?? '');
  if (valued !== undefined) return startingWith(typed, choicesOf(valued.argChoices));
  const [, flag] = /^(--[^=]+=)/.exec(typed) ?? [];
  if (flag !== undefined) {
    const choices = choicesOf(findOption(at, flag)?.argChoices);
    return startingWith(
      typed,
      choices.map(({ word }) => ({ word: flag + word, description: '' })),
    );
  }
  if (typed.startsWith('-')) return startingWith(typed, optionsOf(at));
  const visible = at.createHelp().visibleCommands(at);
  // Without the `help` that commander adds.
  const inner = at.commands.filter((one) => visible.includes(one));
  const names = inner.map((one) => ({ word: one.name(), description: one.summary() || one.description() }));
  return startingWith(typed, [...names, ...choicesOf(argumentAt(at, position)?.argChoices)]);
}

function argumentAt({ registeredArguments }: Command, position: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[position] ?? (last?.variadic ? last : undefined);
}

function findOption(command: Command, word: string): Option | undefined {
  const [name] = word.split('=');
  return command.options.find(({ long, short }) => long === name || short === name);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function optionsOf(command: Command): Suggestion[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long ? [{ word: long, description }] : []));
}

function choicesOf(choices: readonly string[] | undefined): Suggestion[] {
  return (choices ?? []).map((word) => ({ word, description: '' }));
}

function startingWith(start: string, all: readonly Suggestion[]): Suggestion[] {
  return all.filter(({ word }) => word.startsWith(start));
}
