import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suggestions } from '../src/completion/complete.ts';
import { completionScripts } from '../src/completion/completion-command.ts';
import { actlog, commandEnvironment, commandLine } from './command-line.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-cli-'));
  const words = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(folder, 'actlog'), `#!/bin/bash\nexec ${words} "$@"\n`);
  chmodSync(join(folder, 'actlog'), 0o755);
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Returns what bash completes a line to, with the script as the command prints it. */
function completedByBash(line: string, wordBreaks: readonly string[]): string[] {
  const script = `
set -u
source <(actlog completion bash)
source <(actlog completion bash)
COMP_LINE=${JSON.stringify(line)}
COMP_WORDS=(${wordBreaks.map((word) => JSON.stringify(word)).join(' ')})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
$(complete -p actlog | sed -E 's/.*-F ([^ ]+) .*/\\1/')
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const environment = commandEnvironment();
  const env = { ...environment, PATH: `${folder}:${environment.PATH}` };
  return execFileSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8' }).trim().split('\n');
}

describe('in bash', () => {
  it('completes subcommands, their commands, options and choices', () => {
    expect(completedByBash('actlog se', ['actlog', 'se'])).toEqual(['serve', 'sessions']);
    expect(completedByBash('actlog guardian ', ['actlog', 'guardian', ''])).toEqual([
      'list',
      'watch',
      'approve',
      'deny',
      'grants',
      'revoke',
    ]);
    expect(completedByBash('actlog sessions list --s', ['actlog', 'sessions', 'list', '--s'])).toEqual([
      '--since',
      '--status',
    ]);
    const words = ['actlog', 'policies', 'create', '--effect'];
    const effects = ['allow', 'deny', 'require_approval'];
    expect(completedByBash('actlog policies create --effect ', [...words, ''])).toEqual(effects);
    expect(completedByBash('actlog policies create --effect=', [...words, '='])).toEqual(effects);
    expect(completedByBash('actlog policies create --effect=d', [...words, '=', 'd'])).toEqual(['deny']);
  });
});

describe('suggestions', () => {
  const wordsFor = async (...words: string[]) => (await suggestions(words)).map(({ word }) => word);

  it('skips the values of options', async () => {
    expect(await wordsFor('sessions', 'list', '--agent', 'show', '--lim')).toEqual(['--limit']);
    expect(await wordsFor('sessions', 'list', '--agent', '')).toEqual([]);
    expect(await wordsFor('keys', 'create', '--kind=t')).toEqual(['--kind=test']);
  });

  it('offers the choices of arguments', async () => {
    expect(await wordsFor('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await wordsFor('rules', 'explain', 'goal.d')).toContain('goal.detour');
    expect(await wordsFor('completion', 'bash', '')).toEqual([]);
  });

  it('describes subcommands and options', async () => {
    expect(await suggestions(['backu'])).toEqual([
      { word: 'backup', description: 'copy the database while the server runs' },
    ]);
    const [option] = await suggestions(['guardian', 'deny', '--comm']);
    expect(option?.description).toMatch(/^comment/);
  });

  it('offers nothing for an unknown command', async () => {
    expect(await wordsFor('nonsense', '')).toEqual([]);
  });
});

it.each(['bash', 'zsh', 'fish'] as const)('prints a script for %s that its shell accepts', async (shell) => {
  const { stdout, exitCode } = await actlog(['completion', shell]);
  expect({ stdout, exitCode }).toEqual({ stdout: completionScripts[shell], exitCode: 0 });
  const checked = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
  // A shell that is not installed cannot check its script.
  if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: '' });
  expect(stdout).toContain('actlog __complete --');
});
