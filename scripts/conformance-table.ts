// Writes the requirements of docs/conformance.md from those that the suite holds a deployment against.
// Fails when the page is not as it would be written; `--write` writes it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coverageSentence, coverageTable } from '../packages/contract/src/report/coverage-table.ts';
import { root } from './workspace.ts';

const page = join(root, 'docs', 'conformance.md');
const begin = '<!-- table: begin -->\n';
const end = '<!-- table: end -->';

const text = readFileSync(page, 'utf8');
const start = text.indexOf(begin) + begin.length;
const table = `${coverageSentence()}\n\n${coverageTable()}`;
const written = text.slice(0, start) + table + text.slice(text.indexOf(end));
if (process.argv.includes('--write')) writeFileSync(page, written);
else if (written !== text) {
  console.error('docs/conformance.md does not hold the table that the requirements make: run with --write.');
  process.exitCode = 1;
}
