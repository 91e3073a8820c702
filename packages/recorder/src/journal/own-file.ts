import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { hostname } from 'node:os';

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

/** Interval at which a living process marks its folder, in milliseconds. */
export const heartbeatMs = 15_000;
/**
 * Time without a mark after which a folder of another machine, container or thread counts as abandoned, in
 * milliseconds.
 */
const silentForMs = 60_000;
/** The same if the start time of a process is unknown, so that its id may have been reused. */
const unsureForMs = 10 * 60_000;

/** Owner of a spool folder, encoded in its name. */
export interface ProcessIdentity {
  /** Identifies a boot of the machine and the process namespace, within which process ids are comparable. */
  readonly machine: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot; 0 if unknown. */
  readonly startTicks: number;
}

function readOr<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Status of a process as reported by the system. */
interface ProcessStatus {
  readonly startTicks: number;
  /** The process has ended, but its parent has not yet collected its exit status. */
  readonly isZombie: boolean;
}

/** Reads fields 3 and 22 of `/proc/pid/stat` (proc(5)); undefined if the process or the file does not exist. */
function statusOf(pid: number): ProcessStatus | undefined {
  const stat = readOr(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), undefined);
  // The second field is the program's name in parentheses, which may contain anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && { startTicks: Number(fields[19]), isZombie: fields[0] === 'Z' };
}

let own: ProcessIdentity | undefined;

/** Returns the identity of this process. */
export function ownIdentity(): ProcessIdentity {
  if (own?.pid === process.pid) return own;
  const parts = [
    hostname(),
    readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(), ''),
    readOr(() => readlinkSync('/proc/self/ns/pid'), ''),
  ];
  const machine = createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12);
  own = { machine, pid: process.pid, startTicks: statusOf(process.pid)?.startTicks ?? 0 };
  return own;
}

/** Number of folders created by this thread, so that folders of the same millisecond keep their order. */
let made = 0;

/** Returns a name for a new folder; names sort by age. */
export function folderName({ machine, pid, startTicks }: ProcessIdentity, nowMs: number): string {
  made += 1;
  const turn = (made & 0xffff).toString(16).padStart(4, '0');
  const unique = turn + randomBytes(4).toString('hex');
  return [String(nowMs).padStart(14, '0'), machine, pid, startTicks, unique].join('-');
}

/** Parses the name of a folder; undefined if it is not a spool folder. */
export function parseFolderName(name: string): ProcessIdentity | undefined {
  const match = /^\d{14}-([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{12}$/.exec(name);
  return match
    ? { machine: match[1] as string, pid: Number(match[2]), startTicks: Number(match[3]) }
    : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // owned by another user
  }
}

/**
 * Returns `true` if the owner of a folder is alive. Exact for processes with comparable ids and known start times,
 * otherwise based on the heartbeat.
 *
 * @param silenceMs - time since the folder was marked, in milliseconds
 */
export function isAlive(owner: ProcessIdentity, silenceMs: number): boolean {
  const self = ownIdentity();
  if (owner.machine !== self.machine) return silenceMs < silentForMs;
  // A terminated thread leaves its folder in a process that continues.
  if (owner.pid === self.pid) return owner.startTicks === self.startTicks && silenceMs < silentForMs;
  if (!isRunning(owner.pid)) return false;
  const status = statusOf(owner.pid);
  if (status?.isZombie) return false;
  if (!status || owner.startTicks === 0) return silenceMs < unsureForMs;
  return status.startTicks === owner.startTicks;
}
