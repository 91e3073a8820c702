import { limits } from '@actlog/protocol';
import type { Slice } from '../storage/queries/slice.ts';
import type { CursorScope, Cursors, Position } from './cursor.ts';

/** `limit` and `cursor` of a query. */
export interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Position and size of a page to read. */
export interface PageRequest {
  /** Sort values after which the page starts; `undefined` for the first page. */
  readonly after: Position | undefined;
  /** Maximum number of rows on the page. */
  readonly limit: number;
}

/** A page of a list (specification, "Page of results"). */
export interface Page<Row> {
  readonly rows: Row[];
  readonly nextCursor: string | null;
}

/**
 * Reads one page by keyset, not by offset, so that the thousandth page costs as much as the first.
 *
 * @param read - returns the rows; and the position of the next page, where that is not after the last row
 * @param positionOf - returns the sort values of a row
 * @throws ApiError `VALIDATION_ERROR` for a cursor of another list.
 */
export async function readPage<Row>(
  cursors: Cursors,
  scope: CursorScope,
  query: PageQuery,
  read: (request: PageRequest) => Promise<Slice<Row> & { readonly endPosition?: Position | undefined }>,
  positionOf: (row: Row) => Position,
): Promise<Page<Row>> {
  const limit = query.limit ?? limits.defaultPageSize;
  const { rows, hasMore, endPosition } = await read({ after: cursors.open(scope, query.cursor), limit });
  if (!hasMore) return { rows, nextCursor: null };
  return { rows, nextCursor: cursors.seal(scope, endPosition ?? positionOf(rows.at(-1) as Row)) };
}
