import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.ts';

/**
 * Holds the part of a page of `docs/` that is made from the code to what the code makes of it: `--write` writes it,
 * and without that a page that differs fails the script.
 *
 * @param name - of the part, in the comments around it
 */
export function holdGeneratedPart(page: string, made: string, name = 'table'): void {
  const begin = `<!-- ${name}: begin -->\n`;
  const end = `<!-- ${name}: end -->`;
  const file = join(root, 'docs', page);
  const text = readFileSync(file, 'utf8');
  const start = text.indexOf(begin) + begin.length;
  const written = text.slice(0, start) + made + text.slice(text.indexOf(end));
  if (process.argv.includes('--write')) {
    writeFileSync(file, written);
  } else if (written !== text) {
    console.error(`docs/${page} does not hold the table that the code makes: run with --write.`);
    process.exitCode = 1;
  }
}
