import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';

/** Consecutive rows of a list. */
export interface Slice<Row> {
  readonly rows: Row[];
  /** `true` if more rows follow. */
  readonly hasMore: boolean;
}

/** Maximum bytes of the large columns in a slice. Hundreds of rows of 256 KiB each would exhaust the memory. */
const maxSliceBytes = 1024 * 1024;

/** Selects the bytes of a row's large columns, which the database knows without reading them. */
export function bytesOf(...columns: readonly string[]) {
  // A sum with a null would be null, and count as nothing.
  const lengths = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(lengths, sql` + `)}`.as('size');
}

/**
 * Returns how many of the first rows, at most `limit`, have large columns of `maxBytes` together (default: 1 MiB); at least
 * one if there is any.
 */
export function countWithin(
  sizes: readonly { readonly size: number }[],
  limit: number,
  maxBytes: number = maxSliceBytes,
): number {
  let bytes = 0;
  const end = sizes.findIndex(({ size }, index) => {
    bytes += Number(size);
    return index === limit || (index > 0 && bytes > maxBytes);
  });
  return end === -1 ? sizes.length : end;
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
  if (sizes.length === 0) return { rows: [], hasMore: false };
  const count = countWithin(sizes, limit, maxBytes);
  return { rows: await read.rows(count), hasMore: count < sizes.length };
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
