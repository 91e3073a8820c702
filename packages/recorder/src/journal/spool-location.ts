import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { assertOwnFolder, currentUserId, UntrustedFileError } from './own-file.ts';
import { type JournalFiles, makeFolder } from './segment.ts';

/**
 * Creates and returns the folder of the journals of one tenant in the user's state folder, or in the folder for
 * temporary files if that is not possible.
 *
 * @param tenantSecret - deployment, and key or tenant; the name contains only a part of its SHA-256
 * @throws UntrustedFileError when there is no folder that only this user can change
 * @throws the system's error when no folder can be created
 */
export function defaultSpoolFolder(tenantSecret: string): string {
  let failure: unknown;
  for (const userFolder of userFolders()) {
    try {
      return tenantFolder(userFolder, tenantSecret);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/**
 * Returns the folders in which the user's journals may be, without creating one. Of the default folders, the first that
 * can be used counts.
 *
 * @param spoolDir - absolute path of the folder configured by the user; undefined for the default folders
 */
export function userFolders(spoolDir?: string): string[] {
  if (spoolDir !== undefined) return [join(spoolDir, `actlog-${userName()}`)];
  const state = userStateFolder();
  // A relative path, for example with an empty HOME: the working directory must not contain events.
  return [...(state !== undefined && isAbsolute(state) ? [state] : []), temporaryFolder()];
}

/**
 * Returns the name of a tenant's folder in the folder of the user: a part of a SHA-256.
 *
 * @param tenantSecret - as for {@link defaultSpoolFolder}
 */
export function tenantFolderName(tenantSecret: string): string {
  return createHash('sha256').update(`actlog spool\n${tenantSecret}`).digest('hex').slice(0, 16);
}

/**
 * Creates and returns the folder of the journals of one tenant in a folder configured by the user, which is created
 * too. The folder in between belongs only to this user, so the configured one may be writable by others: a volume of a
 * pod is often open to a group, or to all.
 *
 * @param tenantSecret - as for {@link defaultSpoolFolder}
 * @throws UntrustedFileError when another user owns a symbolic link to it, or can change its content
 * @throws the system's error when a folder cannot be created
 */
export function namedSpoolFolder(spoolDir: string, tenantSecret: string): string {
  makeFolder(spoolDir);
  const link = lstatSync(spoolDir);
  const ownUid = currentUserId();
  if (link.isSymbolicLink() && ownUid !== undefined && ![0, ownUid].includes(link.uid)) {
    throw new UntrustedFileError(
      'owner',
      `spoolDir ${spoolDir} is a symbolic link of another user (uid ${link.uid}). Pass the folder that it should point to.`,
    );
  }
  return tenantFolder(userFolders(spoolDir)[0] as string, tenantSecret);
}

/** Creates the folder of a tenant, so that no process sends events left by another tenant's agent. */
function tenantFolder(userFolder: string, tenantSecret: string): string {
  const folder = join(userFolder, tenantFolderName(tenantSecret));
  for (const path of [userFolder, folder]) {
    makeFolder(path);
    // In a folder open to all, another user may have created it first, or placed a link.
    assertOwnFolder(path);
  }
  return folder;
}

/** Returns the user's state folder; undefined if the user has no home. */
function userStateFolder(): string | undefined {
  const { env, platform } = process;
  try {
    if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'actlog', 'spool');
    if (platform === 'win32') {
      return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'actlog', 'spool');
    }
    // Its specification says to ignore a relative path.
    const isSet = isAbsolute(env.XDG_STATE_HOME ?? '');
    return join(isSet ? String(env.XDG_STATE_HOME) : join(homedir(), '.local', 'state'), 'actlog', 'spool');
  } catch {
    return undefined;
  }
}

function temporaryFolder(): string {
  return join(tmpdir(), `actlog-${userName()}`);
}

function userName(): string {
  try {
    return String(currentUserId() ?? userInfo().username);
  } catch {
    return 'user';
  }
}

/** Options of a journal. */
export interface JournalOptions {
  /** Spool folder, shared by many processes. */
  readonly root: string;
  readonly files: JournalFiles;
  /** Maximum size of all segments, in bytes. */
  readonly maxBytes: number;
  /** Size at which a new segment is started, in bytes. */
  readonly segmentBytes: number;
  /** Flushes every event to disk before `append` returns. */
  readonly isSynced: boolean;
  /** Called with the number of records with a wrong checksum. */
  readonly onUnreadable: (count: number) => void;
  /** Called with the number of events left by dead processes; negative for events that another process took over. */
  readonly onAdopted: (count: number) => void;
  /** Called once for each file of a dead process that cannot be taken over. */
  readonly onNotTaken: (error: Error) => void;
  /**
   * Called when the spool folder was moved or removed by another program, with the number of events in it that are in no
   * memory, and that this process does not deliver.
   */
  readonly onMoved: (count: number) => void;
  /** Called when the journal cannot be written or read. */
  readonly onFailure: (error: Error) => void;
}
