import { limits } from '@actlog/protocol';
import type { Slice } from '../storage/slice.ts';
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
  /** Rows that the page shows at most. */
  readonly limit: number;
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
  read: (request: PageRequest) => Promise<Slice<Row>>,
  positionOf: (row: Row) => Position,
): Promise<Page<Row>> {
  const limit = query.limit ?? limits.defaultPageSize;
  const { rows, hasMore } = await read({ after: cursors.open(scope, query.cursor), limit });
  return { rows, nextCursor: hasMore ? cursors.seal(scope, positionOf(rows.at(-1) as Row)) : null };
}
