import type { ComponentChildren } from 'preact';
import type { Shown } from '../use-list.ts';
import { Problem } from './problem.tsx';
import { ShowMore } from './show-more.tsx';
import { Table } from './table.tsx';

/** A table of what a list has shown so far, with a word where it is empty and a button where there is more. */
export function ListTable<Item>({
  shown,
  columns,
  caption,
  empty,
  row,
}: {
  shown: Shown<Item>;
  columns: readonly string[];
  /** What the table holds, for those who do not see it. */
  caption: string;
  empty: ComponentChildren;
  row: (item: Item) => ComponentChildren;
}) {
  const { items, error, reload } = shown;
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {items === undefined && error === undefined && <p class="faint">Loading…</p>}
      {items?.length === 0 && (typeof empty === 'string' ? <p class="empty">{empty}</p> : empty)}
      {items !== undefined && items.length > 0 && (
        <Table caption={caption} columns={columns}>
          {items.map(row)}
        </Table>
      )}
      <ShowMore {...shown} />
    </>
  );
}
