import { type Argument, Command, CommanderError, Help, type HelpConfiguration, type Option } from 'commander';
import { describeError } from './errors/describe-error.ts';
import { exitCodes, exitCodesHelp } from './exit-codes.ts';
import { checkOutput, note, print, watchOutput } from './output/print.ts';
import { printableLines } from './output/printable.ts';
import { styled } from './output/style.ts';
import { type Subcommand, subcommands } from './subcommands.ts';
import { version } from './version.ts';

/**
 * Runs a subcommand whose arguments commander parses.
 *
 * @returns the exit code; errors are printed to stderr
 */
export async function runParsed(args: readonly string[]): Promise<number> {
  watchOutput();
  // A command sets it during its action; the value of the calling process is restored afterwards.
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    if (args[0] === '__complete') {
      await complete(args.slice(1));
      await checkOutput();
      return exitCodes.ok;
    }
    const words = withHelpOption(args);
    const [name] = words;
    const subcommand = name !== undefined && Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    const loaded = subcommand && 'load' in subcommand ? await subcommand.load() : undefined;
    await parse(program(loaded), words);
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    const { message, note: text, exitCode } = describeError(error);
    if (text !== undefined) note(text);
    if (message !== undefined) note(`${styled('red', 'error:', process.stderr)} ${message}`);
    return failureExitCode(args, exitCode);
  } finally {
    process.exitCode = before;
  }
}

/** Runs a command. @throws also when it wrote its help, or anything else, to a standard output that is full */
async function parse(command: Command, words: readonly string[]): Promise<void> {
  let ended: unknown;
  try {
    await command.parseAsync(words, { from: 'user' });
  } catch (error) {
    ended = error;
  }
  // Commander ends a command that showed its help with an error.
  if (ended === undefined || (ended instanceof CommanderError && ended.exitCode === 0)) await checkOutput();
  if (ended !== undefined) throw ended;
}

/** Returns the arguments with `--help` for `actlog`, `actlog help` and `actlog help sessions list`. */
function withHelpOption(args: readonly string[]): string[] {
  const [name, ...rest] = args;
  if (name === undefined) return ['--help'];
  return name === 'help' ? [...rest, '--help'] : [...args];
}

/**
 * Returns the exit code of a command that failed: 1 instead of 2 for `policies plan --exit-code`, where 2 means that
 * changes are planned.
 */
function failureExitCode(args: readonly string[], exitCode: number): number {
  const [name, subcommand] = args;
  const isReserved = name === 'policies' && subcommand === 'plan' && args.includes('--exit-code');
  return isReserved && exitCode === exitCodes.usage ? exitCodes.failed : exitCode;
}

const environmentHelp = `
Environment:
  ACTLOG_BASE_URL  address of the service, such as http://127.0.0.1:8787
  ACTLOG_API_KEY   API key; it has no flag, because lists of processes show flags
  NO_COLOR         set to any value for output without colors`;

const examplesHelp = `
Examples:
  # a server with its console, on this machine
  $ actlog serve
  # what agents did in the last day
  $ actlog sessions list --since 24h
  # approve or deny held actions in the terminal
  $ actlog guardian watch`;

/**
 * Creates the command with its loaded subcommand. The other subcommands have only their descriptions.
 *
 * @param loaded - subcommand that is run; none for the help text
 */
function program(loaded?: Command): Command {
  const root = new Command('actlog')
    .description('Records, guards and reads back what AI agents do with their tools.')
    .version(version)
    .usage('<command> [options]')
    .showHelpAfterError('(see --help for usage and examples)')
    .exitOverride()
    .helpCommand(false)
    .configureHelp(helpConfiguration)
    // An argument may hold an escape sequence, such as an id that was copied.
    .configureOutput({ outputError: (text, write) => write(printableLines(text)) })
    .addHelpText('after', [environmentHelp, exitCodesHelp, examplesHelp].join('\n'));
  for (const [name, { summary }] of ordered()) {
    const command = loaded?.name() === name ? loaded : new Command(name);
    root.addCommand(command.summary(summary).helpGroup(groupOf(name)));
  }
  if (loaded) inheritSettings(root, loaded);
  return root;
}

/** Returns the subcommands in the order of the groups. */
function ordered(): [string, Subcommand][] {
  const names = Object.values(commandGroups).flat();
  const placeOf = (name: string) => (names.includes(name) ? names.indexOf(name) : names.length);
  return Object.entries(subcommands).sort(([left], [right]) => placeOf(left) - placeOf(right));
}

/** Gives a command that another package created, and all commands in it, the settings of the root. */
function inheritSettings(root: Command, command: Command): void {
  // `actlog help sessions list` shows the help of any command.
  command.copyInheritedSettings(root).helpCommand(false);
  for (const inner of command.commands) inheritSettings(root, inner);
}

/** Headings of options that many commands share. They come after the options of the command itself. */
const sharedGroups: readonly string[] = ['Output:', 'Connection:', 'Options:'];

/** Configuration of the help of every command. */
const helpConfiguration: HelpConfiguration = {
  groupItems<Item extends Command | Option>(
    unsorted: Item[],
    visible: Item[],
    groupOf: (item: Item) => string,
  ): Map<string, Item[]> {
    const groups = new Help().groupItems(unsorted, visible, groupOf);
    const placeOf = ([heading]: [string, unknown]) => sharedGroups.indexOf(heading);
    return new Map([...groups].sort((left, right) => placeOf(left) - placeOf(right)));
  },
};

/** Headings of `actlog --help`, in order, with their subcommands. A subcommand that is not listed is under "Commands". */
export const commandGroups: Readonly<Record<string, readonly string[]>> = {
  'Set up:': ['init', 'doctor', 'completion'],
  'Run a server:': [
    'serve',
    'keys',
    'tenants',
    'retention',
    'legal-holds',
    'quota',
    'tags',
    'learn',
    'webhooks',
    'backup',
    'migrate',
  ],
  'Read what agents did:': ['overview', 'sessions', 'agents', 'events', 'feed'],
  'Decide what they may do:': ['policies', 'guardian', 'channels', 'risk', 'audit'],
  'Prove what was recorded:': ['evidence', 'log'],
  'Guard agents without changing their code:': ['gateway', 'hook', 'spool'],
  'Look up and check:': ['rules', 'tool', 'conformance'],
};

/** Returns the heading of a subcommand. */
function groupOf(name: string): string {
  const found = Object.entries(commandGroups).find(([, names]) => names.includes(name));
  return found?.[0] ?? 'Commands:';
}

/**
 * Prints the suggestions for a completion script: the word, and after a tab its description.
 *
 * @param args - `--`, then the words after the name of the command up to the cursor
 */
async function complete(args: readonly string[]): Promise<void> {
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
