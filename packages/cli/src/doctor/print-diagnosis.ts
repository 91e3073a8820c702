import { print } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { type Style, styled } from '../output/style.ts';
import type { CheckStatus } from './check.ts';
import { checks } from './checks.ts';
import type { Diagnosis } from './diagnose.ts';

const marks: Readonly<Record<CheckStatus, readonly [mark: string, style: Style]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
  skipped: ['–', 'dim'],
};

const width = Math.max(...checks.map(({ title }) => title.length));

/** Prints a line for people: a mark, what was checked, and what was found; below it, the fix. */
export async function printDiagnosis({ status, title, detail, fix }: Diagnosis): Promise<void> {
  const [mark, style] = marks[status];
  const text = printable(detail);
  const shown = status === 'skipped' ? styled('dim', text) : text;
  await print(`${styled(style, mark)} ${title.padEnd(width)}  ${shown}`);
  if (fix !== undefined) await print(`${' '.repeat(width + 4)}${styled('bold', 'Fix:')} ${printable(fix)}`);
}
