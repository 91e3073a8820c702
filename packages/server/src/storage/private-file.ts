import { closeSync, openSync } from 'node:fs';

/**
 * Makes an empty file that only its owner can read, where there is none: SQLite would make it by the umask, readable
 * for every user of the machine, and gives the files beside it the rights of the file itself. What stands in the way
 * is left to SQLite, which opens the file next and says what is wrong.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch {}
}
