import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { isPostgresUrl } from './database-address.ts';
import { createPrivateFile, SqliteConnection } from './sqlite/sqlite-connection.ts';

/**
 * Copies an SQLite database into a new file. It does not migrate the database, so a backup can be made before an
 * upgrade, whichever release wrote the file.
 *
 * @throws Error when the file exists or cannot be written, or when the database is PostgreSQL.
 */
export async function backUp(database: string, file: string): Promise<void> {
  if (isPostgresUrl(database)) throw postgresBackupError();
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

/** Returns the error for a backup of a PostgreSQL database; it names the tools to use instead. */
export function postgresBackupError(): Error {
  return new Error(
    'The database is PostgreSQL, which is backed up with its own tools: pg_dump --format=custom, as a role that sees every tenant, for a copy; continuous archiving for point-in-time recovery.',
  );
}

/**
 * Copies an open SQLite database into a new file. The copy is renamed to `file` once it is complete and synced, so an
 * interrupted copy is never taken for a backup.
 *
 * @throws Error when the file exists or cannot be written.
 */
export async function copyInto(connection: SqliteConnection, file: string): Promise<void> {
  if (file === '') throw new Error('The backup has no file name; give the path of a new file.');
  if (existsSync(file)) throw new Error(`${file} already exists; give the path of a new file.`);
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    createPrivateFile(unfinished);
    await connection.copyTo(unfinished);
    sync(unfinished);
    renameSync(unfinished, file);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    throw new Error(`${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/** Syncs a file to disk. SQLite's backup does not. */
function sync(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
