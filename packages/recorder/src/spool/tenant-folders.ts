import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { assertOwnFolder } from '../journal/own-file.ts';

/**
 * Returns the folders of all deployments and tenants in the folder of a user, sorted by name; none if it does not
 * exist.
 *
 * @throws UntrustedFileError when other users can change the folder
 * @throws the system's error when the folder cannot be read
 */
export function listTenantFolders(userFolder: string): string[] {
  try {
    assertOwnFolder(userFolder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const names = readdirSync(userFolder).filter((name) => /^[0-9a-f]{16}$/.test(name));
  return names.sort().map((name) => join(userFolder, name));
}

/** `true` if a file or folder does not exist, or a file stands where one of its parents should be. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
