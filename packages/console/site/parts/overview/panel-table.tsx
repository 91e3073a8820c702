import type { ComponentChildren } from 'preact';

/** A column: its title, and the class that hides it where there is little room. */
export interface PanelColumn {
  readonly title: string;
  readonly isNumber?: boolean;
  /** `second` and `third` columns are hidden in a narrow panel. */
  readonly importance?: 'second' | 'third';
}

function headClass({ isNumber, importance }: PanelColumn): string {
  return [isNumber && 'number', importance].filter(Boolean).join(' ');
}

/** Table that fits its panel: it hides less important columns instead of scrolling. */
export function PanelTable({
  caption,
  columns,
  children,
}: {
  /** Caption of the table for screen readers. */
  caption: string;
  columns: readonly PanelColumn[];
  /** Rows. */
  children: ComponentChildren;
}) {
  return (
    <div class="fits">
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={headClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
