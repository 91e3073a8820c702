import { type FormatFlags, formatOf, jsonText } from './format.ts';
import { print } from './print.ts';
import { printable, widthOf } from './printable.ts';
import { type Style, styled } from './style.ts';

/** A line of a record: its label, its value, and a style for the value. Lines without a value are left out. */
export type Detail = readonly [
  label: string,
  value: string | number | boolean | null | undefined,
  style?: Style | undefined,
];

/** Prints a record as JSON, or its details for people. */
export async function printRecord(
  record: unknown,
  details: readonly Detail[],
  flags: FormatFlags,
): Promise<void> {
  const format = formatOf(flags);
  if (format !== 'table') return print(jsonText(record, format === 'json' ? 2 : undefined));
  return printDetails(details);
}

/** Prints details of a record, one on each line. */
export async function printDetails(details: readonly Detail[]): Promise<void> {
  const present = details.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(...present.map(([label]) => widthOf(label)));
  for (const [label, value, style] of present) {
    await print(`${styled('dim', label.padEnd(width))}  ${styled(style, printable(String(value)))}`);
  }
}
