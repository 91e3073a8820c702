import { v4 } from 'uuid';
import { ApiError } from './api-error.ts';

/** Position of an item in its list: the sort keys, then a tie-breaker. */
export type Position = readonly (number | string)[];

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
