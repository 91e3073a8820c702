import { cutToWidth, printable, widthOf } from './printable.ts';
import { type Style, styled } from './style.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** Returns the content of a cell; nothing is shown as a dash. */
  readonly value: (row: Row) => string | number | boolean | null | undefined;
  readonly style?: (row: Row) => Style | undefined;
  readonly align?: 'right';
  /** Width down to which the column shrinks to fit the terminal. Default 8. */
  readonly minWidth?: number;
}

const gap = '  ';
const defaultMinWidth = 8;

/** A table without borders that fits the width of the terminal. Cells are safe to print. */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #width: number;
  #widths: readonly number[];

  /** @param width - columns of the terminal; `Infinity` where nothing must be cut, as in a pipe */
  constructor(columns: readonly Column<Row>[], width: number) {
    this.#columns = columns;
    this.#width = width;
    this.#widths = columns.map(({ title }) => widthOf(title));
  }

  /**
   * Sets the widths of the columns for these rows. Wide columns shrink first; where that is not enough, the last columns
   * are left out.
   *
   * @param options - `isStream`: `true` if rows follow that are not known yet, which get the least width of each column
   */
  fit(rows: readonly Row[], { isStream = false } = {}): void {
    const natural = this.#columns.map((column) =>
      Math.max(
        widthOf(column.title),
        isStream ? (column.minWidth ?? defaultMinWidth) : 0,
        ...rows.map((row) => widthOf(cellText(column, row))),
      ),
    );
    const least = this.#columns.map(({ title, minWidth = defaultMinWidth }, index) =>
      Math.min(natural[index] ?? 0, Math.max(minWidth, widthOf(title))),
    );
    while (natural.length > 1 && totalOf(least.slice(0, natural.length)) > this.#width) natural.pop();
    while (totalOf(natural) > this.#width) {
      const widest = indexOfWidest(natural, least);
      if (widest === undefined) break;
      natural[widest] = (natural[widest] ?? 0) - 1;
    }
    this.#widths = natural;
  }

  /** Returns the line with the titles. */
  header(): string {
    return this.#line(
      ({ title }) => title,
      () => 'bold',
    );
  }

  /** Returns the line of a row. */
  line(row: Row): string {
    return this.#line(
      (column) => cellText(column, row),
      ({ style }) => style?.(row),
    );
  }

  #line(
    textOf: (column: Column<Row>) => string,
    styleOf: (column: Column<Row>) => Style | undefined,
  ): string {
    const cells = this.#widths.map((width, index) => {
      const column = this.#columns[index] as Column<Row>;
      const text = cutToWidth(textOf(column), width);
      const padding = ' '.repeat(Math.max(0, width - widthOf(text)));
      const shown = styled(styleOf(column), text);
      return column.align === 'right' ? padding + shown : shown + padding;
    });
    return cells.join(gap).trimEnd();
  }
}

function cellText<Row>({ value }: Column<Row>, row: Row): string {
  const content = value(row);
  return content === null || content === undefined || content === '' ? '–' : printable(String(content));
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap.length * Math.max(0, widths.length - 1);
}

/** Returns the index of the widest column that can still shrink. */
function indexOfWidest(widths: readonly number[], least: readonly number[]): number | undefined {
  let widest: number | undefined;
  widths.forEach((width, index) => {
    if (width <= (least[index] ?? 0)) return;
    if (widest === undefined || width > (widths[widest] ?? 0)) widest = index;
  });
  return widest;
}
