import { readFileSync } from 'node:fs';
import { snippetsOf } from './snippets.ts';

/**
 * The packages of this repository that the snippets of a page import and none of its `npm install` lines names. npm
 * makes what a package needs importable by chance, pnpm does not.
 */
export function notInstalled(path: string): string[] {
  const lines = readFileSync(path, 'utf8').match(/^npm install .+$/gm) ?? [];
  const installed = new Set(lines.flatMap((line) => line.split(' ')));
  const imported = snippetsOf(path).flatMap(({ code }) => [...code.matchAll(/from '(@actlog\/[\w-]+)/g)]);
  return [...new Set(imported.map(([, name]) => String(name)))].filter((name) => !installed.has(name));
}
