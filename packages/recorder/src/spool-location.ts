import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { makeFolder } from './journal/make-folder.ts';

/**
 * Where journals go when nobody says: the user's folder for state that is not worth a backup, else the folder for
 * temporary files; below it a folder for one deployment and one API key, so that no process ever sends what another
 * tenant's agent left behind.
 *
 * @param tenantSecret - deployment and key; only a part of its SHA-256 shows
 * @throws the system's error when no folder can be made, or `Error` when somebody else could write to it
 */
export function defaultSpoolFolder(tenantSecret: string): string {
  const name = createHash('sha256').update(`actlog spool\n${tenantSecret}`).digest('hex').slice(0, 16);
  let failure: unknown;
  for (const parentFolder of [stateFolder, temporaryFolder]) {
    try {
      return privateFolder(parentFolder(), name);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function privateFolder(parent: string, name: string): string {
  makeFolder(parent);
  const { uid, mode } = lstatSync(parent);
  // In a folder for temporary files, somebody else may have made it first, or have laid a link.
  if (process.getuid && (uid !== process.getuid() || (mode & 0o170022) !== 0o040000)) {
    throw new Error(`${parent} belongs to somebody else, or others can write to it. Pass spoolDir.`);
  }
  const folder = join(parent, name);
  makeFolder(folder);
  return folder;
}

/** @throws the system's error, or `Error`, when the user has no home */
function stateFolder(): string {
  const folder = userStateFolder();
  // As with an empty HOME: the working folder is no place for events.
  if (!isAbsolute(folder)) throw new Error(`${folder} is no absolute path.`);
  return folder;
}

function userStateFolder(): string {
  const { env, platform } = process;
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'actlog', 'spool');
  if (platform === 'win32') {
    return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'actlog', 'spool');
  }
  // Its specification has a relative path count as none.
  const isSet = isAbsolute(env.XDG_STATE_HOME ?? '');
  return join(isSet ? String(env.XDG_STATE_HOME) : join(homedir(), '.local', 'state'), 'actlog', 'spool');
}

function temporaryFolder(): string {
  return join(tmpdir(), `actlog-${userName()}`);
}

function userName(): string {
  try {
    return String(process.getuid?.() ?? userInfo().username);
  } catch {
    return 'user';
  }
}
