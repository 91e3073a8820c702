import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

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
