import { type Expression, type Selectable, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { isPostgres } from '../postgres/postgres-error.ts';
import type { Tables } from '../schema.ts';
import type { Database } from '../transaction.ts';

/** Consecutive rows of a list. */
export interface Slice<Row> {
  readonly rows: Row[];
  /** `true` if more rows follow. */
  readonly hasMore: boolean;
}

/** Maximum bytes of the large columns in a slice. Hundreds of rows of 256 KiB each would exhaust the memory. */
export const maxSliceBytes = 1024 * 1024;

/** Selects the bytes of a row's large columns, which the database knows without reading them. */
export function bytesOf(...columns: readonly string[]) {
  // A sum with a null would be null, and count as nothing.
  const lengths = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(lengths, sql` + `)}`.as('size');
}

/**
 * Returns a slice of at most `limit` rows whose large columns total at most `maxBytes` (default: 1 MiB), but at least
 * one row. It reads the sizes first.
 */
export async function sliceWithin<Row>(
  limit: number,
  read: {
    readonly sizes: (limit: number) => Promise<readonly { readonly size: number }[]>;
    readonly rows: (limit: number) => Promise<Row[]>;
  },
  maxBytes: number = maxSliceBytes,
): Promise<Slice<Row>> {
  const sizes = await read.sizes(limit + 1);
  let bytes = 0;
  const end = sizes.findIndex((row, index) => {
    bytes += row.size;
    return index === limit || (index > 0 && bytes > maxBytes);
  });
  if (sizes.length === 0) return { rows: [], hasMore: false };
  const rows = await read.rows(end === -1 ? sizes.length : end);
  return { rows, hasMore: end !== -1 };
}

/** Applies {@link sliceWithin} to a query of whole rows. `columns` are the large ones. */
export function querySliceWithin<Name extends keyof Tables>(
  limit: number,
  columns: readonly string[],
  query: SelectQueryBuilder<Tables, Name, Selectable<Tables[Name]>>,
  maxBytes?: number,
): Promise<Slice<Selectable<Tables[Name]>>> {
  return sliceWithin(
    limit,
    {
      sizes: (count) =>
        query
          .clearSelect()
          .select(bytesOf(...columns))
          .limit(count)
          .execute(),
      rows: (count) => query.limit(count).execute(),
    },
    maxBytes,
  );
}

/**
 * Returns a condition that a text column has one of the values. They are given as a JSON array in one parameter, so a
 * prepared statement serves any number of them.
 */
export function oneOf(db: Database, column: string, valuesJson: string): Expression<SqlBool> {
  return isPostgres(db)
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select json_array_elements_text(${valuesJson}::json)))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${valuesJson}))`;
}
