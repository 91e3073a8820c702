import { commitLost, isUnwritable, PostgresError, postgresOutage } from './postgres/postgres-error.ts';
import { sqliteResultCode } from './sqlite/sqlite-connection.ts';

/** Result codes of SQLite for conditions that can pass: https://www.sqlite.org/rescode.html */
const transientCodes = new Map([
  [5, 'is locked by another process'],
  [6, 'is locked by another process'],
  [7, 'is out of memory'],
  [8, 'cannot be written'],
  [10, 'had an I/O error'],
  [13, 'is full'],
  [14, 'cannot be opened'],
]);

/**
 * Returns why the storage cannot serve a request now, and whether the request was stored; `undefined` for any other
 * error. The response to such a request is 503, because the same request may succeed later.
 */
export function storageOutage(error: unknown): string | undefined {
  const reason = error instanceof PostgresError ? postgresOutage(error) : sqliteOutage(error);
  if (reason === undefined) return undefined;
  const isUnknown = error instanceof PostgresError && error.code === commitLost;
  const outcome = isUnknown
    ? 'The outcome is unknown. It is safe to send it again with the same id or Idempotency-Key, which is stored only once.'
    : 'Nothing was stored.';
  return `The database ${reason}. ${outcome}`;
}

function sqliteOutage(error: unknown): string | undefined {
  const code = sqliteResultCode(error);
  return code === undefined ? undefined : transientCodes.get(code);
}

/** Result codes of SQLite for a disk that does not accept writes. */
const unwritableCodes: ReadonlySet<number | undefined> = new Set([8, 10, 13, 14]);

/** `true` for the error of a database that accepts no writes at all: its disk is full, broken or read-only. */
export function isWriteOutage(error: unknown): boolean {
  return error instanceof PostgresError ? isUnwritable(error) : unwritableCodes.has(sqliteResultCode(error));
}
