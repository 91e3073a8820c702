import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, ownIdentity, type ProcessIdentity } from '@actlog/recorder/short-lived';
import { digest } from './calls/hook-call.ts';
import type { AgentName } from './dialects/dialect.ts';

/** Returns the folder of all hooks in the spool folder of a tenant. */
function hookFolder(spoolFolder: string): string {
  return join(spoolFolder, 'hook');
}

/** Returns the folder of an agent's sessions. */
export function agentFolder(spoolFolder: string, agent: AgentName): string {
  return join(hookFolder(spoolFolder), agent);
}

/** Returns the folder of a session's open calls. */
export function sessionFolder(spoolFolder: string, agent: AgentName, sessionId: string): string {
  return join(agentFolder(spoolFolder, agent), digest(sessionId));
}

/** Mark of the process that delivers, so that a burst of calls starts one. Two of them would do no harm. */
export class FlushLock {
  readonly #folder: string;
  readonly #path: string;

  constructor(spoolFolder: string) {
    this.#folder = hookFolder(spoolFolder);
    this.#path = join(this.#folder, 'flush.lock');
  }

  /** `true` while a living process holds it. */
  get isHeld(): boolean {
    try {
      const owner = JSON.parse(readFileSync(this.#path, 'utf8')) as ProcessIdentity;
      return isAlive(owner, Date.now() - statSync(this.#path).mtimeMs);
    } catch {
      return false; // There is none, or it is damaged.
    }
  }

  /** Takes it. Returns `false` if another living process holds it. */
  acquire(): boolean {
    if (this.isHeld) return false;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.release();
    try {
      writeFileSync(this.#path, JSON.stringify(ownIdentity()), { flag: 'wx', mode: 0o600 });
      return true;
    } catch {
      return false; // Another process was faster.
    }
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}

/** Longest message that is shown, in characters. */
const maxLength = 1000;

/**
 * Last problem of the delivery, which runs in a process without a terminal: kept in a file, and shown to the user at the
 * start of the next session.
 */
export class DeliveryProblem {
  readonly #folder: string;
  readonly #path: string;

  constructor(spoolFolder: string) {
    this.#folder = hookFolder(spoolFolder);
    this.#path = join(this.#folder, 'delivery-problem.txt');
  }

  /** Returns the message; undefined if the last delivery had no problem. */
  read(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8').slice(0, maxLength) || undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a message. */
  write(message: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const temporary = `${this.#path}.${process.pid}`;
    writeFileSync(temporary, message, { mode: 0o600 });
    renameSync(temporary, this.#path);
  }

  /** Forgets the message, after a delivery without a problem. */
  clear(): void {
    rmSync(this.#path, { force: true });
  }
}
