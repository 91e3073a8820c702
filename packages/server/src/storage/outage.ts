import { commitLost, PostgresError, postgresOutage } from './postgres/postgres-error.ts';
import { sqliteResultCode } from './sqlite-result-code.ts';

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
 * Says why the storage cannot take a request now and what has come of it, or undefined for an error of another kind.
 * The answer to such a request is 503: the same request may succeed later.
 */
export function storageOutage(error: unknown): string | undefined {
  const reason = error instanceof PostgresError ? postgresOutage(error) : sqliteOutage(error);
  if (reason === undefined) return undefined;
  const isUnknown = error instanceof PostgresError && error.code === commitLost;
  const outcome = isUnknown
    ? 'Whether it did is not known: what has an id or an Idempotency-Key is stored once, however often it is sent.'
    : 'Nothing was stored.';
  return `The database ${reason}. ${outcome}`;
}

function sqliteOutage(error: unknown): string | undefined {
  const code = sqliteResultCode(error);
  return code === undefined ? undefined : passing.get(code);
}
