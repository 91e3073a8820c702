// Writes the table of docs/adapters.md from the harnesses, whose abilities the shared suite proves.
// Fails when the table is not as it would be written; `--write` writes it.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdapterHarness } from '../packages/adapter-suite/src/index.ts';
import { root } from './workspace.ts';

const page = join(root, 'docs', 'adapters.md');
const begin = '<!-- table: begin -->\n';
const end = '<!-- table: end -->';

async function harnesses(): Promise<AdapterHarness[]> {
  const found: AdapterHarness[] = [];
  for (const file of globSync('packages/adapters/*/tests/harness.ts', { cwd: root }).sort()) {
    const exported = Object.values(await import(pathToFileURL(join(root, file)).href));
    found.push(...exported.filter(isHarness));
  }
  return found;
}

function isHarness(value: unknown): value is AdapterHarness {
  return typeof value === 'object' && value !== null && 'abilities' in value;
}

function seenAs(status: number | 'unseen'): string {
  return status === 'unseen' ? 'not seen' : String(status);
}

function row({ sdk, hook = '', abilities }: AdapterHarness): string {
  const { guards, holds, aborts, invalidArguments, unknownTool, thrown, streams, hasSession } = abilities;
  const cells = [
    `\`${sdk.slice(0, sdk.lastIndexOf('/'))}\``,
    hook,
    guards ? 'yes' : 'no',
    holds ? (aborts ? 'yes' : 'yes; the run has no signal') : 'no: denied at once',
    seenAs(thrown),
    seenAs(invalidArguments),
    seenAs(unknownTool),
    streams ? 'yes' : '–',
    hasSession ? "the framework's" : '`sessionId`',
  ];
  return `| ${(guards ? cells : cells.with(3, 'no')).join(' | ')} |`;
}

function table(rows: readonly AdapterHarness[]): string {
  return [
    '| package | hook | stops a denied call | holds for approval | a tool throws a 502 | invalid arguments | unknown tool | streaming | session |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.map(row),
    '',
  ].join('\n');
}

const text = readFileSync(page, 'utf8');
const start = text.indexOf(begin) + begin.length;
const written = text.slice(0, start) + table(await harnesses()) + text.slice(text.indexOf(end));
if (process.argv.includes('--write')) writeFileSync(page, written);
else if (written !== text) {
  console.error('docs/adapters.md does not hold the table that the harnesses make: run with --write.');
  process.exitCode = 1;
}
