import { closeSync, openSync } from 'node:fs';

/**
 * Creates an empty file that only its owner can read, unless it exists. SQLite would create it by the umask, often
 * readable by every user, and gives the files beside it the same permissions. Errors are ignored, because SQLite opens
 * the file next and reports them.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600));
  } catch {}
}
