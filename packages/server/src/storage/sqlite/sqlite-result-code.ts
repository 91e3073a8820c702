/**
 * Returns SQLite's primary result code of a `node:sqlite` error (https://www.sqlite.org/rescode.html), or `undefined`
 * for any other error.
 */
export function sqliteResultCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
}
