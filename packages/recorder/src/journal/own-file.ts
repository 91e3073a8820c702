import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';

/** Flags that Windows lacks are 0. */
const { O_NOFOLLOW: noFollow = 0, O_NONBLOCK: nonBlocking = 0 } = constants;

/** Property that makes a file or folder untrusted: its type, owner, mode, number of links, or size. */
export type UntrustedBecause = 'type' | 'owner' | 'mode' | 'links' | 'size';

/** Error thrown when a file or folder of the spool could have been put there, or changed, by another user. */
export class UntrustedFileError extends Error {
  override readonly name = 'UntrustedFileError';
  readonly because: UntrustedBecause;

  constructor(because: UntrustedBecause, message: string) {
    super(message);
    this.because = because;
  }
}

/**
 * Opens a regular file of this user. Never follows a symbolic link in the last path segment, and never waits for the
 * other end of a pipe.
 *
 * @param flags - flags of `open(2)`; a file created with `O_CREAT` is readable by no other user
 * @throws UntrustedFileError when it has several hard links, is not a regular file, or belongs to another user
 * @throws the system's error: `ELOOP` for a symbolic link
 */
export function openOwnFile(path: string, flags: number): number {
  const fd = openSync(path, flags | noFollow | nonBlocking, 0o600);
  try {
    assertOwnFile(path, fstatSync(fd));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Checks that a file is safe to use.
 *
 * @throws UntrustedFileError when it is not a regular file, has several hard links, or belongs to another user
 */
export function assertOwnFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new UntrustedFileError('type', `${path} is not a regular file. Remove it.`);
  assertOwner(path, stats);
  if (stats.nlink > 1) {
    throw new UntrustedFileError('links', `${path} has ${stats.nlink} hard links. Remove it.`);
  }
}

/**
 * Checks that only this user can change a folder. On Windows, which has no such modes, its location in the user's
 * profile protects it.
 *
 * @throws UntrustedFileError when it is a link, belongs to another user, or is writable by others
 * @throws the system's error when it does not exist
 */
export function assertOwnFolder(path: string): void {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) {
    throw new UntrustedFileError('type', `${path} is not a folder. Remove it, or pass another spoolDir.`);
  }
  assertOwner(path, stats);
  const mode = stats.mode & 0o777;
  if (currentUserId() !== undefined && (mode & 0o022) !== 0) {
    const octal = mode.toString(8).padStart(4, '0');
    throw new UntrustedFileError(
      'mode',
      `Other users can write to ${path} (mode ${octal}). Remove it, or look through it and run "chmod 700 ${path}".`,
    );
  }
}

/** Returns the user id of files that this process creates; undefined on Windows. */
export function currentUserId(): number | undefined {
  return process.geteuid?.();
}

function assertOwner(path: string, { uid }: Stats): void {
  const ownUid = currentUserId();
  if (ownUid === undefined || uid === ownUid) return;
  throw new UntrustedFileError(
    'owner',
    `${path} belongs to another user (uid ${uid}, this process has uid ${ownUid}). Pass another spoolDir, or remove it.`,
  );
}
