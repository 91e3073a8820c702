import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** State of a file for git: `none` outside of a repository. */
export type GitState = 'none' | 'ignored' | 'added' | 'tracked';

/**
 * Makes sure that git ignores a file: adds it to `.gitignore` beside it, unless a rule covers it already.
 *
 * @returns `tracked` if git has the file, which no rule changes
 * @throws the system's error when `.gitignore` cannot be written
 */
export function ignoreInGit(file: string): GitState {
  const dir = dirname(file);
  if (!isInRepository(dir)) return 'none';
  const name = basename(file);
  if (git(dir, 'ls-files', '--error-unmatch', '--', name) === 0) return 'tracked';
  const ignoreFile = join(dir, '.gitignore');
  const text = existsSync(ignoreFile) ? readFileSync(ignoreFile, 'utf8') : '';
  const ignored = git(dir, 'check-ignore', '--quiet', '--', name);
  // Without git, only a line with the name counts.
  if (ignored === 0 || (ignored === undefined && text.split(/\r?\n/).includes(name))) return 'ignored';
  writeFileSync(ignoreFile, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${name}\n`);
  return 'added';
}

function isInRepository(dir: string): boolean {
  if (existsSync(join(dir, '.git'))) return true;
  return dirname(dir) !== dir && isInRepository(dirname(dir));
}

/** Runs git and returns its exit code; undefined if it is not installed. */
function git(dir: string, ...args: string[]): number | undefined {
  return spawnSync('git', args, { cwd: dir, stdio: 'ignore' }).status ?? undefined;
}
