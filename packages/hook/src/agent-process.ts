import { readFileSync } from 'node:fs';
import { ownIdentity, type ProcessIdentity } from '@actlog/recorder/short-lived';

/** Programs that only start the hook and end with it. */
const starters = /^(?:sh|bash|dash|zsh|ksh|fish|np[mx]\b.*)$/;
/** Maximum number of such programs between the agent and the hook. */
const maxStarters = 5;

/**
 * Returns the identity of the agent that started this hook: the first parent process that is not a shell. Undefined
 * where the system does not tell (only Linux does, by proc(5)).
 */
export function agentProcess(): ProcessIdentity | undefined {
  let pid = process.ppid;
  for (let depth = 0; depth <= maxStarters; depth += 1) {
    const status = statusOf(pid);
    if (!status) return undefined;
    if (!starters.test(status.name)) {
      return { machine: ownIdentity().machine, pid, startTicks: status.startTicks };
    }
    pid = status.parent;
  }
  return undefined;
}

interface Status {
  readonly name: string;
  readonly parent: number;
  readonly startTicks: number;
}

/** Reads fields 2, 4 and 22 of `/proc/pid/stat`. */
function statusOf(pid: number): Status | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name is in parentheses, and may contain anything.
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    return {
      name: stat.slice(stat.indexOf('(') + 1, end),
      parent: Number(fields[1]),
      startTicks: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}
