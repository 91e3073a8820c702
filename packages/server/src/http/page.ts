import { createHmac, timingSafeEqual } from 'node:crypto';
import { type ListEndpointName, limits } from '@actlog/protocol';
import { ApiError } from '../lib/api-error.ts';
import type { Slice } from '../storage/slices.ts';

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

/** Position of a row in a list that begins with the newest. */
interface Creation {
  readonly createdMs: number;
  readonly id: string;
}

/** Does the same as {@link readPage} for rows in the order of their creation. */
export function readCreatedPage<Row extends { readonly created_ms: number; readonly id: string }>(
  cursors: Cursors,
  scope: CursorScope,
  query: PageQuery,
  read: (page: { readonly after: Creation | undefined; readonly limit: number }) => Promise<Slice<Row>>,
): Promise<Page<Row>> {
  return readPage(
    cursors,
    scope,
    query,
    ({ after, limit }) =>
      read({ after: after && { createdMs: after[0] as number, id: after[1] as string }, limit }),
    (row) => [row.created_ms, row.id],
  );
}

/** Identity of the list that a cursor belongs to; tenant, endpoint and filters determine it. */
export interface CursorScope {
  readonly tenantId: number;
  readonly endpoint:
    | ListEndpointName
    | 'sessions.get'
    | 'decisions'
    | 'events'
    | 'grants'
    | 'judgments'
    | 'legal-holds'
    | 'audit'
    | 'deliveries';
  /** Path parameters and filters; `limit` and `cursor` are ignored. */
  readonly filters: Readonly<Record<string, unknown>>;
}

/** End of a page: the sort values of its last item. */
export type Position = readonly (string | number)[];

/** Lifetime of a cursor, in seconds. */
const lifetimeSeconds = 24 * 3600;

const signatureBytes = 16;

/** Creates and opens cursors: opaque, signed, bound to their list, and valid for a day. */
export class Cursors {
  readonly #secret: Buffer;

  /** @param secret - the same in every process of a deployment */
  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** Returns the cursor of the page after `position`. */
  seal(scope: CursorScope, position: Position): string {
    const expires = Math.floor(Date.now() / 1000) + lifetimeSeconds;
    const content = Buffer.from(JSON.stringify([expires, ...position]));
    return Buffer.concat([this.#sign(scope, content), content]).toString('base64url');
  }

  /**
   * Returns the position in a cursor, or `undefined` without a cursor.
   *
   * @throws ApiError `VALIDATION_ERROR` for a cursor that was altered, has expired or belongs to another list.
   */
  open(scope: CursorScope, cursor: string | undefined): Position | undefined {
    if (cursor === undefined) return undefined;
    const bytes = Buffer.from(cursor, 'base64url');
    const content = bytes.subarray(signatureBytes);
    const isIntact =
      bytes.length > signatureBytes &&
      bytes.toString('base64url') === cursor &&
      timingSafeEqual(bytes.subarray(0, signatureBytes), this.#sign(scope, content));
    const [expires, ...position] = isIntact ? (JSON.parse(content.toString()) as [number, ...Position]) : [0];
    if (expires * 1000 <= Date.now()) {
      const message = isIntact
        ? 'has expired; start again at the first page'
        : 'is not a cursor of this list; use nextCursor of its previous page, with the same filters';
      throw new ApiError('VALIDATION_ERROR', `query.cursor: ${message}.`, {
        details: [{ path: 'query.cursor', code: 'invalid_cursor', message }],
      });
    }
    return position;
  }

  #sign({ tenantId, endpoint, filters }: CursorScope, content: Buffer): Buffer {
    const named = Object.entries(filters)
      .filter(([name, value]) => value !== undefined && name !== 'limit' && name !== 'cursor')
      .sort(([left], [right]) => (left < right ? -1 : 1));
    return createHmac('sha256', this.#secret)
      .update(`${JSON.stringify([tenantId, endpoint, named])}\n`)
      .update(content)
      .digest()
      .subarray(0, signatureBytes);
  }
}
