import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.ts';

/**
 * Updates the generated part of a page in `docs/` with `--write`. Without it, makes the script fail if the part is out of
 * date.
 *
 * @param name - name of the part in the comments around it
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
    console.error(`docs/${page} is out of date: run with --write.`);
    process.exitCode = 1;
  }
}
