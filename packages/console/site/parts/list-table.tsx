import type { ComponentChildren } from 'preact';
import type { Shown } from '../use-list.ts';
import { Problem } from './problem.tsx';

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
  const { items, error, hasMore, more } = shown;
  return (
    <>
      <Problem error={error} />
      {items === undefined && error === undefined && <p class="faint">Loading…</p>}
      {items?.length === 0 && <p class="empty">{empty}</p>}
      {items !== undefined && items.length > 0 && (
        // A wide table is scrolled by itself, by keyboard too.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached
        <section class="scrolls" aria-label={caption} tabIndex={0}>
          <table>
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
            <tbody>{items.map(row)}</tbody>
          </table>
        </section>
      )}
      {hasMore && (
        <button type="button" onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}
