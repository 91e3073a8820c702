import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '@actlog/recorder/short-lived';

/** Permissions of files and folders: for their owner only. */
const fileMode = 0o600;
const folderMode = 0o700;

/** A call whose end this process records. */
export interface ClaimedCall {
  readonly eventId: string;
  readonly status: number;
  readonly facts: CallFacts;
  readonly name: CallName;
}

/**
 * Calls of one session between their hooks, which are separate processes: one file each, whose name has the state. All
 * changes are renames, so that parallel calls and a kill at any point leave each call in one state.
 *
 * A call that ends is first renamed to its status, then recorded, then marked as done. After a kill in between, it is
 * recorded again under the same event id, which the service stores once.
 */
export class OpenCalls {
  readonly #folder: string;

  /** @param folder - folder of the session, created with the first call */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Records an open call.
   *
   * @throws the system's error when it cannot be written
   */
  add(name: CallName, facts: CallFacts): void {
    const temporary = join(this.#folder, `${name.eventId}.tmp`);
    const text = JSON.stringify(facts);
    try {
      writeFileSync(temporary, text, { mode: fileMode });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      mkdirSync(this.#folder, { recursive: true, mode: folderMode });
      writeFileSync(temporary, text, { mode: fileMode });
    }
    renameSync(temporary, this.#path(name));
  }

  /** Returns the calls that match, oldest first. */
  find(matches: (name: CallName) => boolean): CallName[] {
    return namesIn(this.#folder)
      .map(parseCallFileName)
      .filter((name) => name !== undefined && matches(name)) as CallName[];
  }

  /**
   * Claims a call in order to record its end. Of several processes that claim an open call, one succeeds.
   *
   * @param status - status for an open call; a call that was claimed before keeps its status
   */
  claim(name: CallName, status: number): ClaimedCall | undefined {
    const isOpen = name.state === 'open';
    const claimed = isOpen ? this.#rename(name, `s${status}`) : name;
    if (!claimed) return undefined;
    const facts = this.facts(claimed);
    if (facts) return { eventId: name.eventId, status: Number(claimed.state.slice(1)), facts, name: claimed };
    this.remove(claimed);
    return undefined;
  }

  /** Marks a claimed call as recorded. */
  finish(claimed: ClaimedCall): void {
    this.#rename(claimed.name, 'done');
  }

  /** Forgets a call. */
  remove(name: CallName): void {
    rmSync(this.#path(name), { force: true });
  }

  /** Forgets the session. */
  removeAll(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 2 });
  }

  /** Returns the facts about a call; undefined if it was removed or its file is damaged. */
  facts(name: CallName): CallFacts | undefined {
    try {
      return parseCallFacts(readFileSync(this.#path(name), 'utf8'));
    } catch {
      return undefined; // removed by another process
    }
  }

  /** Returns the new name; undefined if another process was faster. */
  #rename(name: CallName, state: CallState): CallName | undefined {
    const renamed = { ...name, state };
    try {
      renameSync(this.#path(name), this.#path(renamed));
      return renamed;
    } catch {
      return undefined;
    }
  }

  #path(name: CallName): string {
    return join(this.#folder, callFileName(name));
  }
}

/** Returns the names in a folder, sorted; none if it does not exist. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Facts about a call that has begun, as kept on disk until it ends. */
export interface CallFacts {
  readonly agentId: string;
  readonly sessionId: string;
  /** Type of the subagent that makes the call; undefined for the main thread. */
  readonly subagent?: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /** W3C `traceparent` that the agent gave its hook; undefined for none. */
  readonly traceparent?: string | undefined;
  /** Process of the agent; undefined if unknown. */
  readonly owner?: ProcessIdentity | undefined;
}

/** State of a call: running; ended with a status, but perhaps not recorded yet; recorded. */
type CallState = 'open' | 'done' | `s${number}`;

/** Parts of the name of a call's file. */
export interface CallName {
  /** Digest of the thread. */
  readonly thread: string;
  /** Digest of the call's id or, for agents without ids, of its tool and arguments. */
  readonly key: string;
  /** Id of the event, by which a call that is recorded twice is stored once. */
  readonly eventId: string;
  readonly state: CallState;
}

const pattern = /^([0-9a-f]{16})\.([0-9a-f]{16})\.([0-9a-f-]{36})\.(open|done|s\d+)$/;

/** Returns the name of a call's file. Names of the same call sort by time. */
export function callFileName({ thread, key, eventId, state }: CallName): string {
  return `${thread}.${key}.${eventId}.${state}`;
}

/** Parses the name of a call's file; undefined for other files. */
function parseCallFileName(name: string): CallName | undefined {
  const match = pattern.exec(name);
  return match
    ? {
        thread: match[1] as string,
        key: match[2] as string,
        eventId: match[3] as string,
        state: match[4] as CallState,
      }
    : undefined;
}

/** Parses the content of a call's file; undefined if it is damaged. */
function parseCallFacts(text: string): CallFacts | undefined {
  try {
    const facts = JSON.parse(text) as CallFacts;
    const texts = [facts.agentId, facts.sessionId, facts.toolName, facts.argumentsHash];
    const isSubagent = facts.subagent === undefined || typeof facts.subagent === 'string';
    return isSubagent && texts.every((value) => typeof value === 'string') ? facts : undefined;
  } catch {
    return undefined;
  }
}
