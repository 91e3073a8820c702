import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Shown } from '../hooks/use-list.ts';
import { Loading, ShowMore } from './empty-state.tsx';
import { Problem } from './problem.tsx';

/** Labels the cells of a table with their columns, which cards show. */
function labelCells(table: HTMLTableElement | null, columns: readonly string[]): void {
  for (const row of table?.tBodies[0]?.rows ?? []) {
    let column = 0;
    for (const cell of row.cells) {
      const label = columns[column];
      if (cell.tagName === 'TD' && cell.colSpan === 1 && label !== undefined) cell.dataset.label = label;
      column += cell.colSpan;
    }
  }
}

/** Table with headers. A table that is too wide scrolls by itself, also by keyboard. */
export function Table({
  caption,
  columns,
  isCards = false,
  children,
}: {
  /** Caption of the table for screen readers. */
  caption: string;
  columns: readonly string[];
  /** `true` if each row becomes a card where there is little room. */
  isCards?: boolean;
  /** Rows. */
  children: ComponentChildren;
}) {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    if (isCards) labelCells(table.current, columns);
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class={isCards ? 'scrolls cards' : 'scrolls'} aria-label={caption} tabIndex={0}>
      <table ref={table}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** Items with what renders the row of each. */
export interface ItemRows<Item> {
  readonly items: readonly Item[];
  readonly row: (item: Item) => ComponentChildren;
}

function AllRows<Item>({ items, row }: ItemRows<Item>) {
  return <>{items.map(row)}</>;
}

/** Table of a list's loaded items, with a placeholder for an empty list and a button to load more. */
export function ListTable<Item>({
  shown,
  columns,
  caption,
  empty,
  row,
  rows: Rows = AllRows,
}: {
  shown: Shown<Item>;
  columns: readonly string[];
  /** Caption of the table for screen readers. */
  caption: string;
  empty: ComponentChildren;
  row: (item: Item) => ComponentChildren;
  /** Renders the rows of the items. Default: all of them. */
  rows?: (props: ItemRows<Item>) => ComponentChildren;
}) {
  const { items, error, reload } = shown;
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {items === undefined && error === undefined && <Loading />}
      {items?.length === 0 && (typeof empty === 'string' ? <p class="empty">{empty}</p> : empty)}
      {items !== undefined && items.length > 0 && (
        <Table caption={caption} columns={columns} isCards>
          <Rows items={items} row={row} />
        </Table>
      )}
      <ShowMore {...shown} />
    </>
  );
}

/** Log of loaded entries, newest first, with a placeholder for an empty log and a button to load more. */
export function LogList<Item>({
  shown,
  label,
  empty,
  item,
}: {
  shown: Shown<Item>;
  /** Name of the list for screen readers. */
  label: string;
  empty: string;
  item: (entry: Item) => ComponentChildren;
}) {
  const { items, error, reload } = shown;
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {items === undefined && error === undefined && <p class="faint">Loading…</p>}
      {items?.length === 0 && <p class="empty">{empty}</p>}
      {items !== undefined && items.length > 0 && (
        <ol class="log" aria-label={label}>
          {items.map(item)}
        </ol>
      )}
      <ShowMore {...shown} />
    </>
  );
}
