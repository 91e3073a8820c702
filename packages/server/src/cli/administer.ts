import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Administration } from '../administration/administration.ts';
import { isPostgresUrl } from '../storage/database-address.ts';
import type { AdministrationUse } from './use-administration.ts';

/**
 * Opens the database, which a running server may also use, runs `work`, and closes it. The storage is loaded here, so
 * that a command's help does not load it.
 *
 * @param options - `createsFile`: `true` to create a missing SQLite file. This prints a message, because a key in a
 *   database that no server uses is useless
 * @throws Error when there is no such file
 */
export async function administer(
  database: string,
  work: (admin: Administration) => unknown,
  { createsFile = false, ...use }: AdministrationUse & { readonly createsFile?: boolean } = {},
): Promise<void> {
  if (!createsFile) {
    requireDatabase(database);
  } else if (isMissing(database)) {
    process.stderr.write(`Creating a new database: ${resolve(database)}\n`);
  }
  const { useAdministration } = await import('./use-administration.ts');
  await useAdministration(database, work, use);
}

/** @throws Error when the file of an SQLite database does not exist. */
export function requireDatabase(database: string): void {
  if (!isMissing(database)) return;
  throw new Error(
    `There is no database ${resolve(database)}: set --database or ACTLOG_DATABASE to that of the server.`,
  );
}

function isMissing(database: string): boolean {
  return !isPostgresUrl(database) && !existsSync(database);
}
