import { v4 } from 'uuid';
import { ApiError } from './api-error.ts';

/** Where an item stands in its list: what it is sorted by first, then what tells equals apart. */
export type Position = readonly [timeMs: number, place: number | string];

/** Milliseconds that a cursor can be used. */
const lifetimeMs = 24 * 3_600_000;

interface Given {
  readonly list: string;
  readonly position: Position;
  readonly expiresMs: number;
}

/** The cursors that a tenant was given. Nothing can be read off one. */
export class Cursors {
  readonly #given = new Map<string, Given>();

  /** A cursor that goes on behind a position of a list. */
  give(list: string, position: Position): string {
    const cursor = v4().replaceAll('-', '');
    this.#given.set(cursor, { list, position, expiresMs: Date.now() + lifetimeMs });
    return cursor;
  }

  /** Where a cursor goes on. @throws ApiError `VALIDATION_ERROR` for one that is not of this list, or has expired. */
  take(list: string, cursor: string): Position {
    const given = this.#given.get(cursor);
    if (given?.list === list && given.expiresMs > Date.now()) return given.position;
    const message =
      given?.list === list
        ? 'has expired; start again at the first page'
        : 'is no cursor of this list; use nextCursor of its previous page, with the same filters';
    throw new ApiError('VALIDATION_ERROR', `query.cursor: ${message}.`, {
      details: [{ path: 'query.cursor', code: 'invalid_cursor', message }],
    });
  }
}
