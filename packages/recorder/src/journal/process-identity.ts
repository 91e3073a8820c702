import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** How often a living process marks its folder. */
export const heartbeatMs = 15_000;
/** A folder of another machine, container or thread counts as left behind when unmarked for so long. */
const silentForMs = 60_000;
/** The same where the system does not tell when a process started, so that its number may be another's by now. */
const unsureForMs = 10 * 60_000;

/** Who a spool folder belongs to, as its name tells. */
export interface ProcessIdentity {
  /** Names the machine since it started, and the process namespace: within it, process ids can be compared. */
  readonly machine: string;
  readonly pid: number;
  /** When the process started, in clock ticks since the machine did; 0 where the system does not tell. */
  readonly startTicks: number;
}

function readOr<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** What the system tells of a process. */
interface ProcessStatus {
  readonly startTicks: number;
  /** It has ended, and keeps its number until its parent has asked how. */
  readonly isZombie: boolean;
}

/** Fields 3 and 22 of `/proc/pid/stat` (proc(5)); undefined when there is no such process, or no such file. */
function statusOf(pid: number): ProcessStatus | undefined {
  const stat = readOr(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), undefined);
  // The second field is the program's name in parentheses, which may hold anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && { startTicks: Number(fields[19]), isZombie: fields[0] === 'Z' };
}

let own: ProcessIdentity | undefined;

/** The identity of this process. */
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

/** Folders that this thread has made: those of one millisecond are taken over in their order too. */
let made = 0;

/** A name for a new folder of a process: sorted by name, folders are sorted by age. */
export function folderName({ machine, pid, startTicks }: ProcessIdentity, nowMs: number): string {
  made += 1;
  const turn = (made & 0xffff).toString(16).padStart(4, '0');
  const unique = turn + randomBytes(4).toString('hex');
  return [String(nowMs).padStart(14, '0'), machine, pid, startTicks, unique].join('-');
}

/** Reads a folder's name; undefined when it is none of ours. */
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
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // somebody else's
  }
}

/**
 * Whether the owner of a folder still lives. Exact for other processes whose ids can be compared and whose start times
 * are known; by its heartbeat elsewhere.
 *
 * @param silenceMs - how long ago the folder was marked
 */
export function isAlive(owner: ProcessIdentity, silenceMs: number): boolean {
  const self = ownIdentity();
  if (owner.machine !== self.machine) return silenceMs < silentForMs;
  // A thread that was terminated leaves its folder in a process that goes on.
  if (owner.pid === self.pid) return owner.startTicks === self.startTicks && silenceMs < silentForMs;
  if (!isRunning(owner.pid)) return false;
  const status = statusOf(owner.pid);
  if (status?.isZombie) return false;
  if (!status || owner.startTicks === 0) return silenceMs < unsureForMs;
  return status.startTicks === owner.startTicks;
}
