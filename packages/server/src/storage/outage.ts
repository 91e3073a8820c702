import { PostgresError, postgresOutage } from './postgres/postgres-error.ts';

/** Result codes of SQLite that mean "not now" rather than "never": https://www.sqlite.org/rescode.html */
const passing = new Map([
  [5, 'is locked by another process'],
  [6, 'is locked by another process'],
  [7, 'is out of memory'],
  [8, 'cannot be written'],
  [10, 'had an input or output error'],
  [13, 'is full'],
  [14, 'cannot be opened'],
]);

/**
 * Says why the storage cannot take a request now, or undefined for an error of another kind. The answer to such a
 * request is 503: nothing was stored, and the same request may succeed later.
 */
export function storageOutage(error: unknown): string | undefined {
  const reason = error instanceof PostgresError ? postgresOutage(error) : sqliteOutage(error);
  return reason && `The database ${reason}.`;
}

function sqliteOutage(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return passing.get(Number(error.errcode) & 0xff);
}
