import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { isPostgresUrl } from './database-address.ts';
import { makePrivateFile } from './private-file.ts';
import { SqliteConnection } from './sqlite-connection.ts';

/**
 * Copies the database into a new file as it is, whichever release has written it: a copy is what one makes before an
 * upgrade.
 *
 * @throws Error when the file exists or cannot be written, or when the database is PostgreSQL.
 */
export async function backUp(database: string, file: string): Promise<void> {
  if (isPostgresUrl(database)) throw hasItsOwnWays();
  let connection: SqliteConnection;
  try {
    connection = new SqliteConnection({ file: database, writes: false });
  } catch (cause) {
    throw new Error(`${database} cannot be opened: ${(cause as Error).message}`, { cause });
  }
  try {
    await copyInto(connection, file);
  } finally {
    connection.close();
  }
}

/** What a PostgreSQL database is copied with. */
export function hasItsOwnWays(): Error {
  return new Error(
    'The database is PostgreSQL, which has its own ways to be copied while it runs: pg_dump --format=custom, as a role that sees every tenant, for a copy; continuous archiving for a return to any moment.',
  );
}

/**
 * Copies an open SQLite database into a new file. The copy gets its name once it is whole and on the disk, so that
 * one which was cut off is never taken for a backup.
 *
 * @throws Error when the file exists or cannot be written.
 */
export async function copyInto(connection: SqliteConnection, file: string): Promise<void> {
  if (file === '') throw new Error('The backup has no name: give the path of a new file.');
  if (existsSync(file)) throw new Error(`${file} exists already: give the backup the path of a new file.`);
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    makePrivateFile(unfinished);
    await connection.copyTo(unfinished);
    sync(unfinished);
    renameSync(unfinished, file);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    throw new Error(`${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/** SQLite leaves it to the system when a copy comes to the disk. */
function sync(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
