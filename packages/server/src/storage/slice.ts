import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';

/** The rows of a list from some point on, as far as they were asked for. */
export interface Slice<Row> {
  readonly rows: Row[];
  /** Whether the list goes on behind them. */
  readonly hasMore: boolean;
}

/** Bytes of one column that a slice holds: rows of 256 KiB, hundreds at once, would fill the memory. */
const largestSliceBytes = 1024 * 1024;

/** A slice of `limit` rows at most. `read` is asked for one more, which tells whether there are more. */
export async function sliceOf<Row>(
  limit: number,
  read: (limit: number) => Promise<Row[]>,
): Promise<Slice<Row>> {
  const rows = await read(limit + 1);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/**
 * A slice of `limit` rows at most, and of fewer where `column` makes them large: together at most `maxBytes` of it (1
 * MiB), and at least one row. The sizes are read first, which the database knows without reading the column.
 */
export async function sliceWithin<Name extends keyof Tables>(
  limit: number,
  column: keyof Tables[Name] & string,
  query: SelectQueryBuilder<Tables, Name, Selectable<Tables[Name]>>,
  maxBytes: number = largestSliceBytes,
): Promise<Slice<Selectable<Tables[Name]>>> {
  const size = sql<number>`octet_length(${sql.ref(column)})`.as('size');
  const sizes = await query
    .clearSelect()
    .select(size)
    .limit(limit + 1)
    .execute();
  let bytes = 0;
  const end = sizes.findIndex((row, index) => {
    bytes += row.size;
    return index === limit || (index > 0 && bytes > maxBytes);
  });
  if (sizes.length === 0) return { rows: [], hasMore: false };
  const rows = await query.limit(end === -1 ? sizes.length : end).execute();
  return { rows, hasMore: end !== -1 };
}
