import { limits } from '@actlog/protocol';
import type { Cursors, Position } from './cursors.ts';

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

/** Returns one page of a list by sort position, so that rows that are added meanwhile shift nothing. */
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
