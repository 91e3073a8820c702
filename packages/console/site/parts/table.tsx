import type { ComponentChildren } from 'preact';

/** A table with its heads. One that is too wide for the page is scrolled by itself, by keyboard too. */
export function Table({
  caption,
  columns,
  children,
}: {
  /** What the table holds, for those who do not see it. */
  caption: string;
  columns: readonly string[];
  /** The rows. */
  children: ComponentChildren;
}) {
  return (
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
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
