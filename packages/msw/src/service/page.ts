import { limits } from '@actlog/protocol';
import { v4 } from 'uuid';
import { ApiError } from './api-error.ts';

/** A row and its position. */
export interface Placed<Row> {
  readonly row: Row;
  readonly at: Position;
}

/** Query parameters of every list. */
interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** A page of rows. */
export interface Page<Row> {
  readonly rows: Row[];
  readonly nextCursor: string | null;
}

/** Assigns positions by a time; rows with the same time keep their order of creation. */
export function placed<Row>(rows: Iterable<Row>, timeOf: (row: Row) => string): Placed<Row>[] {
  return Array.from(rows, (row, index) => ({ row, at: [Date.parse(timeOf(row)), index] }));
}

/** Identifies a list: another endpoint, path id or filter is another list. */
export function listName(endpoint: string, parts: Readonly<Record<string, unknown>>): string {
  const filters = Object.entries(parts).filter(([name]) => name !== 'limit' && name !== 'cursor');
  return JSON.stringify([endpoint, filters.sort(([left], [right]) => (left < right ? -1 : 1))]);
}

/** Returns one page of a list by sort position, so that rows added in the meantime shift nothing. */
export function pageOf<Row>(
  cursors: Cursors,
  list: string,
  { limit = limits.defaultPageSize, cursor }: PageQuery,
  all: readonly Placed<Row>[],
  order: 'newest first' | 'oldest first' = 'newest first',
): Page<Row> {
  const direction = order === 'newest first' ? -1 : 1;
  const compare = (left: Position, right: Position) => direction * comparePositions(left, right);
  const after = cursor === undefined ? undefined : cursors.take(list, cursor);
  const rest = all
    .filter(({ at }) => after === undefined || compare(at, after) > 0)
    .sort((left, right) => compare(left.at, right.at));
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor = last && rest.length > limit ? cursors.give(list, last.at) : null;
  return { rows: shown.map(({ row }) => row), nextCursor };
}

function comparePositions(left: Position, right: Position): number {
  const index = left.findIndex((value, at) => value !== right[at]);
  if (index === -1) return 0;
  return (left[index] as number) < (right[index] as number) ? -1 : 1;
}

/** Position of an item in its list: the sort keys, then a tie-breaker. */
type Position = readonly (number | string)[];

/** Lifetime of a cursor, in milliseconds. */
const lifetimeMs = 24 * 3_600_000;

interface Given {
  readonly list: string;
  readonly position: Position;
  readonly expiresMs: number;
}

/** Cursors that a tenant was given. They are opaque. */
export class Cursors {
  readonly #given = new Map<string, Given>();

  /** Creates a cursor that continues after a position of a list. */
  give(list: string, position: Position): string {
    const cursor = v4().replaceAll('-', '');
    this.#given.set(cursor, { list, position, expiresMs: Date.now() + lifetimeMs });
    return cursor;
  }

  /**
   * Returns the position of a cursor. @throws ApiError `VALIDATION_ERROR` if it belongs to another list or
   * has expired.
   */
  take(list: string, cursor: string): Position {
    const given = this.#given.get(cursor);
    if (given?.list === list && given.expiresMs > Date.now()) return given.position;
    const message =
      given?.list === list
        ? 'has expired; start again at the first page'
        : 'is not a cursor of this list; use nextCursor of its previous page, with the same filters';
    throw new ApiError('VALIDATION_ERROR', `query.cursor: ${message}.`, {
      details: [{ path: 'query.cursor', code: 'invalid_cursor', message }],
    });
  }
}
