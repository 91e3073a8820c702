import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { commandGroups } from '../src/run-parsed.ts';
import { subcommands } from '../src/subcommands.ts';
import { actlog } from './command-line.ts';

/** Commands of other packages, whose help is tested there. */
const elsewhere: readonly string[] = ['gateway', 'hook', 'init', 'doctor', 'spool'];

/** Returns a command and all commands in it that do something. */
function leavesOf(command: Command, path: string): [string, Command][] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((inner) => leavesOf(inner, `${path} ${inner.name()}`));
}

async function loadedLeaves(): Promise<[string, Command][]> {
  const loaded = Object.entries(subcommands).map(async ([name, subcommand]) =>
    'load' in subcommand && !elsewhere.includes(name) ? leavesOf(await subcommand.load(), name) : [],
  );
  return (await Promise.all(loaded)).flat();
}

/** Returns the help of a command, with the texts that are added to it. */
function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

it('has a description and examples in the help of every command', async () => {
  const leaves = await loadedLeaves();
  expect(leaves.length).toBeGreaterThan(40);
  const incomplete = leaves.filter(([path, command]) => {
    const help = helpOf(command);
    return (
      command.description() === '' ||
      !help.includes(`$ actlog ${path.split(' ')[0]}`) ||
      !help.includes('Examples:')
    );
  });
  expect(
    incomplete.map(([path]) => path).filter((path) => path !== 'migrate' && path !== 'completion'),
  ).toEqual([]);
});

it('puts every subcommand into a group', () => {
  const grouped = Object.values(commandGroups).flat();
  expect(Object.keys(subcommands).filter((name) => !grouped.includes(name))).toEqual([]);
});

it('lists every subcommand in the help, by group, with exit codes and examples', async () => {
  const { stdout, stderr, exitCode } = await actlog(['--help']);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  for (const [name, { summary }] of Object.entries(subcommands)) {
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${name} ${summary}`);
  }
  expect(stdout).toMatch(/^Read what agents did:\n {2}overview/m);
  expect(stdout).toContain('Exit codes:');
  expect(stdout).toContain('Examples:');
  expect((await actlog([])).stdout).toBe(stdout);
});

it.each([
  ['help', 'sessions', 'list'],
  ['sessions', 'list', '--help'],
])('shows the help of a command: %s %s %s', async (...args) => {
  const { stdout, exitCode } = await actlog(args);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^Usage: actlog sessions list \[options\]$/m);
  expect(stdout).toContain('$ actlog sessions list --since 24h');
  expect(stdout).not.toContain('--api-key');
  expect(stdout).toMatch(/Filters:[\s\S]*Output:[\s\S]*Connection:[\s\S]*Options:/);
});

it('separates the commands over HTTP from those in the database', async () => {
  const { stdout } = await actlog(['sessions', '--help']);
  expect(stdout).toMatch(
    /Over HTTP, with an API key:\n {2}list[\s\S]*In the database of the server:\n {2}delete/,
  );
});

it('exits with 2 for a command without its subcommand', async () => {
  const { stdout, stderr, exitCode } = await actlog(['sessions']);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toContain('Usage: actlog sessions');
});
