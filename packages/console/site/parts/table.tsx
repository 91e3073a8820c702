import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

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
