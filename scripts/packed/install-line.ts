import { readFileSync } from 'node:fs';
import { snippetsOf } from './snippets.ts';

/**
 * Returns the packages of this repository that a page's snippets import and no `npm install` line of it names. npm
 * happens to make transitive dependencies importable; pnpm does not.
 */
export function notInstalled(path: string): string[] {
  const lines = readFileSync(path, 'utf8').match(/^npm install .+$/gm) ?? [];
  const installed = new Set(lines.flatMap((line) => line.split(' ')));
  const imported = snippetsOf(path).flatMap(({ code }) => [...code.matchAll(/from '(@actlog\/[\w-]+)/g)]);
  return [...new Set(imported.map(([, name]) => String(name)))].filter((name) => !installed.has(name));
}
