import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionScripts } from '../src/completion/completion-command.ts';
import { suggestions } from '../src/run-parsed.ts';
import { actlog, commandEnvironment, commandLine } from './command-line.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
  const words = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(folder, 'actlog'), `#!/bin/bash\nexec ${words} "$@"\n`);
  chmodSync(join(folder, 'actlog'), 0o755);
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Returns what bash completes each line to, with the script as the command prints it. The last word is completed. */
function completedByBash(...lines: readonly (readonly string[])[]): string[][] {
  const completions = lines.map(
    (words) => `
COMP_LINE=${JSON.stringify(words.join(' ').replace(/ = ?/, '='))}
COMP_WORDS=(${words.map((word) => JSON.stringify(word)).join(' ')})
COMP_CWORD=${words.length - 1}
COMPREPLY=()
$complete
printf '%s ' "\${COMPREPLY[@]}"; echo`,
  );
  const script = `
set -u
source "${folder}/completion"
source "${folder}/completion"
complete=$(complete -p actlog | sed -E 's/.*-F ([^ ]+) .*/\\1/')
${completions.join('')}`;
  const environment = commandEnvironment();
  const env = { ...environment, PATH: `${folder}:${environment.PATH}` };
  const printed = execFileSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8' });
  return printed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' '));
}

test('bash completes subcommands, their commands, options and choices', () => {
  writeFileSync(join(folder, 'completion'), completionScripts.bash);
  const effects = ['allow', 'deny', 'require_approval'];
  expect(
    completedByBash(
      ['actlog', 'se'],
      ['actlog', 'guardian', ''],
      ['actlog', 'sessions', 'list', '--s'],
      ['actlog', 'policies', 'create', '--effect', ''],
      ['actlog', 'policies', 'create', '--effect', '='],
      ['actlog', 'policies', 'create', '--effect', '=', 'd'],
    ),
  ).toEqual([
    ['serve', 'sessions'],
    ['list', 'watch', 'approve', 'deny', 'grants', 'revoke'],
    ['--since', '--status'],
    effects,
    effects,
    ['deny'],
  ]);
});

describe('suggestions', () => {
  const wordsFor = async (...words: string[]) => (await suggestions(words)).map(({ word }) => word);

  test('skips the values of options', async () => {
    expect(await wordsFor('sessions', 'list', '--agent', 'show', '--lim')).toEqual(['--limit']);
    expect(await wordsFor('sessions', 'list', '--agent', '')).toEqual([]);
    expect(await wordsFor('keys', 'create', '--kind=t')).toEqual(['--kind=test']);
  });

  test('offers the choices of arguments', async () => {
    expect(await wordsFor('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await wordsFor('rules', 'explain', 'goal.d')).toContain('goal.detour');
    expect(await wordsFor('completion', 'bash', '')).toEqual([]);
  });

  test('describes subcommands and options', async () => {
    expect(await suggestions(['backu'])).toEqual([
      { word: 'backup', description: 'copy the database while the server runs' },
    ]);
    const [option] = await suggestions(['guardian', 'deny', '--comm']);
    expect(option?.description).toMatch(/^comment/);
  });

  test('offers nothing for an unknown command', async () => {
    expect(await wordsFor('nonsense', '')).toEqual([]);
  });
});

test.each(['bash', 'zsh', 'fish'] as const)(
  'prints a script for %s that its shell accepts',
  async (shell) => {
    const { stdout, exitCode } = await actlog(['completion', shell]);
    expect({ stdout, exitCode }).toEqual({ stdout: completionScripts[shell], exitCode: 0 });
    const checked = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
    // A shell that is not installed cannot check its script.
    if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: '' });
    expect(stdout).toContain('actlog __complete --');
  },
);
