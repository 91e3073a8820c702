import { limits } from '@actlog/protocol';
import type { CursorScope, Cursors, Position } from './cursor.ts';

/** `limit` and `cursor` as the query gives them. */
export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** What a page asks of a list. */
export interface PageRequest {
  /** The sort values behind which the page starts; undefined for the first page. */
  readonly after: Position | undefined;
  /** Rows to read: one more than the page shows, which tells whether another page follows. */
  readonly fetch: number;
}

/** A page of a list (specification, "Page of results"). */
export interface Page<Row> {
  readonly rows: Row[];
  readonly nextCursor: string | null;
}

/**
 * Reads one page by keyset: never by offset, so that the thousandth page costs what the first does.
 *
 * @param positionOf the sort values of a row.
 * @throws ApiError `VALIDATION_ERROR` for a cursor that is not of this list.
 */
export async function readPage<Row>(
  cursors: Cursors,
  scope: CursorScope,
  query: PageQuery,
  read: (request: PageRequest) => Promise<Row[]>,
  positionOf: (row: Row) => Position,
): Promise<Page<Row>> {
  const limit = query.limit ?? limits.defaultPageSize;
  const rows = await read({ after: cursors.open(scope, query.cursor), fetch: limit + 1 });
  if (rows.length <= limit) return { rows, nextCursor: null };
  rows.length = limit;
  return { rows, nextCursor: cursors.seal(scope, positionOf(rows[limit - 1] as Row)) };
}
