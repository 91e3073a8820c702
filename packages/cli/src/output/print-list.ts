import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../errors/usage-error.ts';
import { type FormatFlags, formatOf, jsonText } from './format.ts';
import { note, print, write } from './print.ts';
import { terminalWidth } from './printable.ts';
import { type Column, Table } from './table.ts';

/** Options of a printed list. */
export interface Listing<Item> {
  readonly columns: readonly Column<Item>[];
  readonly flags: FormatFlags & { readonly limit: number };
  /** Plural noun for the items, such as `sessions`. */
  readonly noun: string;
}

/** Number of rows that decide the widths of the columns. Further rows are printed as they arrive. */
const fittedRows = 500;

/** Prints the items of a list, up to the limit, in the format that the options choose. */
export async function printList<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  listing: Listing<Item>,
): Promise<void> {
  const format = formatOf(listing.flags);
  const limited = upTo(items, listing.flags.limit);
  if (format === 'json') return printArray(limited.items);
  if (format === 'jsonl') {
    for await (const item of limited.items) await print(jsonText(item));
    return;
  }
  const count = await printTable(limited.items, listing.columns);
  if (count === 0) note(`There are no ${listing.noun}.`);
  else if (limited.hasMore() && process.stderr.isTTY) {
    note(
      `\nThese are the first ${count} ${listing.noun}. Show more with --limit N, or all with --limit all.`,
    );
  }
}

/** Prints a table, unless it has no rows. @returns the number of rows */
export async function printTable<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  columns: readonly Column<Item>[],
): Promise<number> {
  const table = new Table(columns, terminalWidth());
  const first: Item[] = [];
  let count = 0;
  const flush = async () => {
    if (first.length === 0) return;
    table.fit(first);
    await print(table.header());
    for (const item of first) await print(table.line(item));
  };
  for await (const item of items) {
    count += 1;
    if (count > fittedRows) await print(table.line(item));
    else {
      first.push(item);
      if (count === fittedRows) await flush();
    }
  }
  if (count < fittedRows) await flush();
  return count;
}

async function printArray(items: AsyncIterable<unknown>): Promise<void> {
  let separator = '[';
  for await (const item of items) {
    await write(`${separator}\n  ${jsonText(item, 2).replaceAll('\n', '\n  ')}`);
    separator = ',';
  }
  await print(separator === '[' ? '[]' : '\n]');
}

/** Limits a list, and remembers if it had more items. */
function upTo<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
): { readonly items: AsyncIterable<Item>; readonly hasMore: () => boolean } {
  let more = false;
  async function* limited(): AsyncGenerator<Item> {
    let count = 0;
    for await (const item of items) {
      more = count === limit;
      if (more) return;
      count += 1;
      yield item;
    }
  }
  return { items: limited(), hasMore: () => more };
}

/** Writes a text file, and creates its folder. @throws UsageError when the file cannot be written */
export function writeFile(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (cause) {
    throw new UsageError(`The file "${file}" cannot be written: ${(cause as Error).message}.`, { cause });
  }
}
