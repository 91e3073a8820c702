import type { ListEndpointName } from '@actlog/protocol';
import { holds, values } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { listed, type WalkOptions } from '../world/list-walk.ts';
import type { MadeRecord } from '../world/records.ts';

/** Texts by which a record is known in a list, each of them enough: its identifier, and the name that it was given. */
export type Marks = readonly string[];

/** Returns the marks of a record that the run created. */
export function marksOf({ id, name }: MadeRecord): Marks {
  return id === undefined ? [name] : [name, id];
}

/** `true` if an item of a list is the record with these marks. */
export function isMarked(item: unknown, marks: Marks): boolean {
  return marks.some(
    (mark) =>
      holds(item, mark) ||
      values(item).some((value) => typeof value === 'string' && value.split(/[/?#]/).includes(mark)),
  );
}

/**
 * Fails unless a list contains every record once writes have settled. Skips if the list is longer than the page limit
 * of the run, because the order of lists is not specified.
 */
export async function expectListed(
  run: Run,
  endpoint: ListEndpointName,
  records: readonly Marks[],
  options: WalkOptions = {},
): Promise<void> {
  const isShown = (items: readonly unknown[]) =>
    records.every((marks) => items.some((item) => isMarked(item, marks)));
  const walk = await run.eventually(
    () => listed(run, endpoint, { ...options, until: isShown }),
    ({ items, ended }) => isShown(items) || !ended,
  );
  if (isShown(walk.items)) return;
  if (!walk.ended && !walk.repeatsCursor && !walk.refused)
    skip(`the list is longer than ${walk.pages.length} pages (--max-pages)`);
  const missing = records.filter((marks) => !walk.items.some((item) => isMarked(item, marks)));
  fail(
    `${missing.length} of ${records.length} records are missing from the list: ` +
      missing.map((marks) => marks.at(-1)).join(', '),
  );
}
