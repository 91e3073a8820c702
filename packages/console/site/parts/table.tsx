import type { ComponentChildren } from 'preact';

/** Table with headers. A table that is too wide scrolls by itself, also by keyboard. */
export function Table({
  caption,
  columns,
  children,
}: {
  /** Caption of the table for screen readers. */
  caption: string;
  columns: readonly string[];
  /** Rows. */
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
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
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
