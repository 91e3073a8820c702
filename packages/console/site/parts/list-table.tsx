import type { ComponentChildren } from 'preact';
import type { Shown } from '../hooks/use-list.ts';
import { Loading } from './loading.tsx';
import { Problem } from './problem.tsx';
import { ShowMore } from './show-more.tsx';
import { Table } from './table.tsx';

/** Table of a list's loaded items, with a text for an empty list and a button to load more. */
export function ListTable<Item>({
  shown,
  columns,
  caption,
  empty,
  row,
}: {
  shown: Shown<Item>;
  columns: readonly string[];
  /** Caption of the table for screen readers. */
  caption: string;
  empty: ComponentChildren;
  row: (item: Item) => ComponentChildren;
}) {
  const { items, error, reload } = shown;
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {items === undefined && error === undefined && <Loading />}
      {items?.length === 0 && (typeof empty === 'string' ? <p class="empty">{empty}</p> : empty)}
      {items !== undefined && items.length > 0 && (
        <Table caption={caption} columns={columns} isCards>
          {items.map(row)}
        </Table>
      )}
      <ShowMore {...shown} />
    </>
  );
}
